/* SPDX-License-Identifier: BSD-3-Clause */
// The part of MPI for Python programs that late_mpi_calls.py needs. Python loads this module late, and MPI with it.
// Communicators and requests are their Fortran handles, which are numbers. The caller owns the buffers and keeps them
// until a request has ended.
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <mpi.h>

static PyObject* done(Py_buffer* buffer) {
    PyBuffer_Release(buffer);
    Py_RETURN_NONE;
}

static PyObject* init(PyObject* self, PyObject* none) {
    (void)self, (void)none;
    int level = -1;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level);
    return PyBool_FromLong(level == MPI_THREAD_SERIALIZED);
}

static PyObject* finalize(PyObject* self, PyObject* none) {
    (void)self, (void)none;
    MPI_Finalize();
    Py_RETURN_NONE;
}

static PyObject* world(PyObject* self, PyObject* none) {
    (void)self, (void)none;
    return PyLong_FromLong(MPI_Comm_c2f(MPI_COMM_WORLD));
}

static PyObject* place(PyObject* self, PyObject* arguments) {
    (void)self;
    MPI_Fint comm = 0;
    if (!PyArg_ParseTuple(arguments, "i", &comm)) return NULL;
    int rank = -1, size = -1;
    MPI_Comm_rank(MPI_Comm_f2c(comm), &rank);
    MPI_Comm_size(MPI_Comm_f2c(comm), &size);
    return Py_BuildValue("ii", rank, size);
}

static PyObject* start(PyObject* arguments, int sends) {
    Py_buffer buffer;
    int peer = 0, tag = 0;
    if (!PyArg_ParseTuple(arguments, "w*ii", &buffer, &peer, &tag)) return NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    if (sends)
        MPI_Isend(buffer.buf, (int)buffer.len, MPI_BYTE, peer, tag, MPI_COMM_WORLD, &request);
    else
        MPI_Irecv(buffer.buf, (int)buffer.len, MPI_BYTE, peer, tag, MPI_COMM_WORLD, &request);
    PyBuffer_Release(&buffer);
    return PyLong_FromLong(MPI_Request_c2f(request));
}

static PyObject* isend(PyObject* self, PyObject* arguments) {
    (void)self;
    return start(arguments, 1);
}

static PyObject* irecv(PyObject* self, PyObject* arguments) {
    (void)self;
    return start(arguments, 0);
}

// Waits for one or two requests; returns whether they are null afterwards.
static PyObject* wait_for(PyObject* self, PyObject* arguments) {
    (void)self;
    MPI_Fint numbers[2];
    if (!PyArg_ParseTuple(arguments, "i|i", &numbers[0], &numbers[1])) return NULL;
    int const count = (int)PyTuple_Size(arguments);
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    for (int i = 0; i < count; ++i)
        requests[i] = MPI_Request_f2c(numbers[i]);
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    return PyBool_FromLong(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL);
}

static PyObject* probe(PyObject* self, PyObject* arguments) {
    (void)self;
    int source = 0, tag = 0, count = -1;
    if (!PyArg_ParseTuple(arguments, "ii", &source, &tag)) return NULL;
    MPI_Status status;
    MPI_Probe(source, tag, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_BYTE, &count);
    return Py_BuildValue("iii", status.MPI_SOURCE, status.MPI_TAG, count);
}

static PyObject* recv_into(PyObject* self, PyObject* arguments) {
    (void)self;
    Py_buffer buffer;
    int source = 0, tag = 0;
    if (!PyArg_ParseTuple(arguments, "w*ii", &buffer, &source, &tag)) return NULL;
    MPI_Recv(buffer.buf, (int)buffer.len, MPI_BYTE, source, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return done(&buffer);
}

static PyObject* bcast(PyObject* self, PyObject* arguments) {
    (void)self;
    Py_buffer buffer;
    if (!PyArg_ParseTuple(arguments, "w*", &buffer)) return NULL;
    MPI_Bcast(buffer.buf, (int)buffer.len, MPI_BYTE, 0, MPI_COMM_WORLD);
    return done(&buffer);
}

// Gathers a number of each rank at rank 0; `all` has room for them.
static PyObject* gather(PyObject* self, PyObject* arguments) {
    (void)self;
    Py_buffer all;
    int mine = 0;
    if (!PyArg_ParseTuple(arguments, "iw*", &mine, &all)) return NULL;
    MPI_Gather(&mine, 1, MPI_INT, all.buf, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return done(&all);
}

static PyObject* allreduce(PyObject* self, PyObject* arguments) {
    (void)self;
    MPI_Fint comm = 0;
    int mine = 0, sum = 0;
    if (!PyArg_ParseTuple(arguments, "ii", &comm, &mine)) return NULL;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_Comm_f2c(comm));
    return PyLong_FromLong(sum);
}

static PyObject* alltoall_in_place(PyObject* self, PyObject* arguments) {
    (void)self;
    Py_buffer block;
    int count = 0;
    if (!PyArg_ParseTuple(arguments, "w*i", &block, &count)) return NULL;
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, block.buf, count, MPI_INT, MPI_COMM_WORLD);
    return done(&block);
}

static PyObject* alltoallv_in_place(PyObject* self, PyObject* arguments) {
    (void)self;
    Py_buffer block, counts, places;
    if (!PyArg_ParseTuple(arguments, "w*w*w*", &block, &counts, &places)) return NULL;
    MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, block.buf, counts.buf, places.buf, MPI_DOUBLE,
                  MPI_COMM_WORLD);
    PyBuffer_Release(&counts);
    PyBuffer_Release(&places);
    return done(&block);
}

static PyObject* split(PyObject* self, PyObject* arguments) {
    (void)self;
    int color = 0, key = 0;
    if (!PyArg_ParseTuple(arguments, "ii", &color, &key)) return NULL;
    MPI_Comm part = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, color, key, &part);
    return PyLong_FromLong(MPI_Comm_c2f(part));
}

static PyObject* dup_world(PyObject* self, PyObject* none) {
    (void)self, (void)none;
    MPI_Comm twin = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    return PyLong_FromLong(MPI_Comm_c2f(twin));
}

static PyObject* congruent_to_world(PyObject* self, PyObject* arguments) {
    (void)self;
    MPI_Fint comm = 0;
    if (!PyArg_ParseTuple(arguments, "i", &comm)) return NULL;
    int result = -1;
    MPI_Comm_compare(MPI_COMM_WORLD, MPI_Comm_f2c(comm), &result);
    return PyBool_FromLong(result == MPI_CONGRUENT);
}

static PyObject* free_comm(PyObject* self, PyObject* arguments) {
    (void)self;
    MPI_Fint number = 0;
    if (!PyArg_ParseTuple(arguments, "i", &number)) return NULL;
    MPI_Comm comm = MPI_Comm_f2c(number);
    MPI_Comm_free(&comm);
    return PyBool_FromLong(comm == MPI_COMM_NULL);
}

// Puts the bytes of `out` into the memory of the target, between two fences.
static PyObject* put(PyObject* self, PyObject* arguments) {
    (void)self;
    Py_buffer memory, out;
    int target = 0;
    if (!PyArg_ParseTuple(arguments, "w*w*i", &memory, &out, &target)) return NULL;
    MPI_Win window = MPI_WIN_NULL;
    MPI_Win_create(memory.buf, memory.len, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    MPI_Put(out.buf, (int)out.len, MPI_BYTE, target, 0, (int)out.len, MPI_BYTE, window);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
    PyBuffer_Release(&out);
    return done(&memory);
}

// Sends to a rank that does not exist; returns whether the error has the class for that.
static PyObject* send_to_no_rank(PyObject* self, PyObject* none) {
    (void)self, (void)none;
    int size = 0, class = MPI_SUCCESS;
    char byte = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int const code = MPI_Send(&byte, 1, MPI_BYTE, size + 5, 0, MPI_COMM_WORLD);
    MPI_Error_class(code, &class);
    return PyBool_FromLong(class == MPI_ERR_RANK);
}

static PyMethodDef methods[] = {
    {"init", init, METH_NOARGS, NULL},
    {"finalize", finalize, METH_NOARGS, NULL},
    {"world", world, METH_NOARGS, NULL},
    {"place", place, METH_VARARGS, NULL},
    {"isend", isend, METH_VARARGS, NULL},
    {"irecv", irecv, METH_VARARGS, NULL},
    {"wait_for", wait_for, METH_VARARGS, NULL},
    {"probe", probe, METH_VARARGS, NULL},
    {"recv", recv_into, METH_VARARGS, NULL},
    {"bcast", bcast, METH_VARARGS, NULL},
    {"gather", gather, METH_VARARGS, NULL},
    {"allreduce", allreduce, METH_VARARGS, NULL},
    {"alltoall_in_place", alltoall_in_place, METH_VARARGS, NULL},
    {"alltoallv_in_place", alltoallv_in_place, METH_VARARGS, NULL},
    {"split", split, METH_VARARGS, NULL},
    {"dup", dup_world, METH_NOARGS, NULL},
    {"congruent", congruent_to_world, METH_VARARGS, NULL},
    {"free", free_comm, METH_VARARGS, NULL},
    {"put", put, METH_VARARGS, NULL},
    {"send_to_no_rank", send_to_no_rank, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    .m_base = PyModuleDef_HEAD_INIT, .m_name = "late_mpi", .m_size = -1, .m_methods = methods};

PyMODINIT_FUNC PyInit_late_mpi(void) {
    return PyModule_Create(&module);
}
