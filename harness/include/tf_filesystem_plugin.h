/* The binary interface between TensorFlow and a filesystem plugin, in one header for C11 and C++17.
 *
 * A plugin is a shared object that exports TF_InitPlugin. Layouts, codes and names are those of
 * TensorFlow's filesystem_interface.h, tf_status.h, env.h and logging.h; the comments give each
 * op's rule in short. The catalogue of clauses (`tffs-conformance list`) is the long form.
 *
 * Rules for all ops
 *  - The host owns the wrappers (TF_Filesystem, TF_RandomAccessFile, ...); what their pointer
 * points at is the plugin's.
 *  - The plugin changes a wrapper's pointer only where the wrapper arrives non-const.
 *  - Every status arrives saying OK and must say OK where the op succeeded.
 *  - Blocks that the host frees come from plugin_memory_allocate.
 *  - Paths are NUL-terminated and went through translate_name, except the pattern of
 * get_matching_paths.
 *  - "Invalid path": malformed, or with a parent that is a file.
 *
 * Where the compiler finds TensorFlow's own headers, those give the declarations, and this one
 * asserts that the layout is the same. So a source may include both, in either order.
 */
#ifndef TF_FILESYSTEM_PLUGIN_H_
#define TF_FILESYSTEM_PLUGIN_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define TF_FS_STATIC_ASSERT static_assert
#else
#define TF_FS_STATIC_ASSERT _Static_assert
#endif

/* A compiler that lacks __has_include would not understand it in the same line. What was found, the
 * include guards say: under the same names tensorflow_paths/ has this header again. */
#ifdef __has_include
#if __has_include("tensorflow/c/env.h")
#include "tensorflow/c/env.h"
#include "tensorflow/c/tf_status.h"
#endif
#if __has_include("tensorflow/c/logging.h")
#include "tensorflow/c/logging.h"
#endif
/* It cannot be read as C. */
#if defined(__cplusplus) && \
    __has_include("tensorflow/c/experimental/filesystem/filesystem_interface.h")
#include "tensorflow/c/experimental/filesystem/filesystem_interface.h"
#endif
#endif

#if !defined(TF_CAPI_EXPORT) && defined(__GNUC__)
#define TF_CAPI_EXPORT __attribute__((visibility("default")))
#elif !defined(TF_CAPI_EXPORT)
#define TF_CAPI_EXPORT
#endif

#ifdef __cplusplus
extern "C" {
#endif

#ifndef TENSORFLOW_C_ENV_H_

/* ------------------------------------------------------------------------------------------------
 * Status */

typedef enum TF_Code {
  TF_OK = 0,
  TF_CANCELLED = 1,
  TF_UNKNOWN = 2,
  TF_INVALID_ARGUMENT = 3,
  TF_DEADLINE_EXCEEDED = 4,
  TF_NOT_FOUND = 5,
  TF_ALREADY_EXISTS = 6,
  TF_PERMISSION_DENIED = 7,
  TF_RESOURCE_EXHAUSTED = 8,
  TF_FAILED_PRECONDITION = 9,
  TF_ABORTED = 10,
  TF_OUT_OF_RANGE = 11,
  TF_UNIMPLEMENTED = 12,
  TF_INTERNAL = 13,
  TF_UNAVAILABLE = 14,
  TF_DATA_LOSS = 15,
  TF_UNAUTHENTICATED = 16
} TF_Code;

/* Opaque. */
typedef struct TF_Status TF_Status;

TF_Status* TF_NewStatus(void);
void TF_DeleteStatus(TF_Status* status);
/* Unknown codes become TF_UNKNOWN; the message of TF_OK is empty. Copies `message`. Payloads are
 * dropped. */
void TF_SetStatus(TF_Status* status, TF_Code code, const char* message);
/* The code that belongs to an errno value; the message is "<context>; <strerror>". 0 gives TF_OK.
 */
void TF_SetStatusFromIOError(TF_Status* status, int error_code, const char* context);
TF_Code TF_GetCode(const TF_Status* status);
/* Valid until the status changes. */
const char* TF_Message(const TF_Status* status);
void TF_SetPayload(TF_Status* status, const char* key, const char* value);
typedef void (*TF_PayloadVisitor)(const char* key, const char* value, void* capture);
void TF_ForEachPayload(const TF_Status* status, TF_PayloadVisitor visitor, void* capture);

/* ------------------------------------------------------------------------------------------------
 * Environment */

typedef struct TF_Thread TF_Thread;

typedef struct TF_ThreadOptions {
  size_t stack_size; /* 0: the system's default */
  size_t guard_size; /* 0: the system's default */
  int numa_node;     /* -1: any */
} TF_ThreadOptions;

typedef struct TF_FileStatistics {
  int64_t length;     /* bytes; of a directory: unspecified */
  int64_t mtime_nsec; /* nanoseconds since the epoch */
  bool is_directory;
} TF_FileStatistics;

/* Opaque: an open file, and strings that are taken one after the other. */
typedef struct TF_WritableFileHandle TF_WritableFileHandle;
typedef struct TF_StringStream TF_StringStream;

/* Files of the filesystems that TensorFlow itself knows: local ones, with or without file://. */
void TF_CreateDir(const char* dirname, TF_Status* status);
void TF_DeleteDir(const char* dirname, TF_Status* status);
void TF_DeleteRecursively(const char* dirname, int64_t* undeleted_file_count,
                          int64_t* undeleted_dir_count, TF_Status* status);
void TF_FileStat(const char* filename, TF_FileStatistics* stats, TF_Status* status);
void TF_DeleteFile(const char* filename, TF_Status* status);
/* Empties what is there. On an error `*handle` stays as it is. */
void TF_NewWritableFile(const char* filename, TF_WritableFileHandle** handle, TF_Status* status);
void TF_AppendWritableFile(TF_WritableFileHandle* handle, const char* data, size_t length,
                           TF_Status* status);
void TF_FlushWritableFile(TF_WritableFileHandle* handle, TF_Status* status);
void TF_SyncWritableFile(TF_WritableFileHandle* handle, TF_Status* status);
/* Frees the handle, also on an error. */
void TF_CloseWritableFile(TF_WritableFileHandle* handle, TF_Status* status);
/* The names in a directory; an empty stream on an error. */
TF_StringStream* TF_GetChildren(const char* filename, TF_Status* status);
TF_StringStream* TF_GetLocalTempDirectories(void);
/* The next string, which lives as long as the stream; false and NULL at the end. */
bool TF_StringStreamNext(TF_StringStream* list, const char** result);
void TF_StringStreamDone(TF_StringStream* list);

/* The path of a fresh empty file, from malloc; the caller frees it. */
char* TF_GetTempFileName(const char* extension);
uint64_t TF_NowNanos(void);
uint64_t TF_NowMicros(void);
uint64_t TF_NowSeconds(void);
void TF_DefaultThreadOptions(TF_ThreadOptions* options);
TF_Thread* TF_StartThread(const TF_ThreadOptions* options, const char* name, void (*work)(void*),
                          void* parameter);
/* Waits for the end and frees the thread. */
void TF_JoinThread(TF_Thread* thread);

/* NULL and NOT_FOUND where there is none. */
void* TF_LoadSharedLibrary(const char* library_filename, TF_Status* status);
void* TF_GetSymbolFromLibrary(void* handle, const char* symbol_name, TF_Status* status);

#endif /* TENSORFLOW_C_ENV_H_ */

/* ------------------------------------------------------------------------------------------------
 * Logging */

#ifndef TENSORFLOW_C_LOGGING_H_

typedef enum TF_LogLevel { TF_INFO = 0, TF_WARNING = 1, TF_ERROR = 2, TF_FATAL = 3 } TF_LogLevel;

#if defined(__GNUC__)
#define TF_FS_PRINTF(at, first) __attribute__((format(printf, at, first)))
#else
#define TF_FS_PRINTF(at, first)
#endif

/* Not exported by TensorFlow since 2.21: a plugin that needs them does not load there. */
void TF_Log(TF_LogLevel level, const char* format, ...) TF_FS_PRINTF(2, 3);
void TF_VLog(int level, const char* format, ...) TF_FS_PRINTF(2, 3);
void TF_DVLog(int level, const char* format, ...) TF_FS_PRINTF(2, 3);

#endif /* TENSORFLOW_C_LOGGING_H_ */

/* ------------------------------------------------------------------------------------------------
 * Wrappers */

#ifndef TENSORFLOW_C_EXPERIMENTAL_FILESYSTEM_FILESYSTEM_INTERFACE_H_

typedef struct TF_RandomAccessFile {
  void* plugin_file;
} TF_RandomAccessFile;

typedef struct TF_WritableFile {
  void* plugin_file;
} TF_WritableFile;

typedef struct TF_ReadOnlyMemoryRegion {
  void* plugin_memory_region;
} TF_ReadOnlyMemoryRegion;

typedef struct TF_Filesystem {
  void* plugin_filesystem;
} TF_Filesystem;

/* The core's C++ twin of this struct has its two fields the other way round. */
typedef struct TF_TransactionToken {
  void* token;
  TF_Filesystem* owner;
} TF_TransactionToken;

typedef enum TF_Filesystem_Option_Type {
  TF_Filesystem_Option_Type_Int = 0,
  TF_Filesystem_Option_Type_Real = 1,
  TF_Filesystem_Option_Type_Buffer = 2,
  TF_Filesystem_Num_Option_Types = 3 /* not a type */
} TF_Filesystem_Option_Type;

typedef union TF_Filesystem_Option_Value_Union {
  int64_t int_val;
  double real_val;
  struct TF_Filesystem_Option_Buffer {
    char* buf;
    int buf_length; /* bytes */
  } buffer_val;
} TF_Filesystem_Option_Value_Union;

typedef struct TF_Filesystem_Option_Value {
  TF_Filesystem_Option_Type type_tag;
  int num_values;
  TF_Filesystem_Option_Value_Union* values;
} TF_Filesystem_Option_Value;

typedef struct TF_Filesystem_Option {
  char* name;
  char* description; /* may be NULL */
  int per_file;
  TF_Filesystem_Option_Value* value;
} TF_Filesystem_Option;

/* ------------------------------------------------------------------------------------------------
 * Tables */

typedef struct TF_RandomAccessFileOps {
  /* Required. Releases the file; nothing uses it any more. */
  void (*cleanup)(TF_RandomAccessFile* file);
  /* OK if and only if exactly n bytes were read; OUT_OF_RANGE if and only if the end of the file
   * came first, with the number of bytes read (0 to n-1); otherwise -1 and another code. Thread
   * safe. Never writes behind n bytes. */
  int64_t (*read)(const TF_RandomAccessFile* file, uint64_t offset, size_t n, char* buffer,
                  TF_Status* status);
} TF_RandomAccessFileOps;

/* One thread at a time uses a writable file. */
typedef struct TF_WritableFileOps {
  /* Required. Called with or without a close before it, and once. */
  void (*cleanup)(TF_WritableFile* file);
  /* OK if and only if exactly n bytes were written; RESOURCE_EXHAUSTED if fewer. n may be 0. */
  void (*append)(const TF_WritableFile* file, const char* buffer, size_t n, TF_Status* status);
  /* The write position in the file; -1 on error. Changes nothing. */
  int64_t (*tell)(const TF_WritableFile* file, TF_Status* status);
  /* NULL: OK. Need not persist. */
  void (*flush)(const TF_WritableFile* file, TF_Status* status);
  /* NULL: flush. Returns when the data is persisted. */
  void (*sync)(const TF_WritableFile* file, TF_Status* status);
  /* Flushes everything and frees the file's resources; cleanup follows. Called at most once. */
  void (*close)(const TF_WritableFile* file, TF_Status* status);
} TF_WritableFileOps;

/* All three required; may be called by several threads. */
typedef struct TF_ReadOnlyMemoryRegionOps {
  void (*cleanup)(TF_ReadOnlyMemoryRegion* region);
  /* Valid and constant until cleanup. */
  const void* (*data)(const TF_ReadOnlyMemoryRegion* region);
  /* Bytes. */
  uint64_t (*length)(const TF_ReadOnlyMemoryRegion* region);
} TF_ReadOnlyMemoryRegionOps;

typedef struct TF_FilesystemOps {
  /* Required. Once per scheme, during registration; where it is not OK the scheme is not
   * registered. */
  void (*init)(TF_Filesystem* filesystem, TF_Status* status);
  /* Required. */
  void (*cleanup)(TF_Filesystem* filesystem);

  /* NOT_FOUND: the path or a parent is missing. FAILED_PRECONDITION: a directory, or invalid. Needs
   * the table of random access files. On error `file` stays as it was. */
  void (*new_random_access_file)(const TF_Filesystem* filesystem, const char* path,
                                 TF_RandomAccessFile* file, TF_Status* status);
  /* What exists is deleted and created anew. NOT_FOUND: a parent is missing. FAILED_PRECONDITION: a
   * directory, or invalid. Needs the table of writable files. */
  void (*new_writable_file)(const TF_Filesystem* filesystem, const char* path,
                            TF_WritableFile* file, TF_Status* status);
  /* What exists is kept; a missing file is created. Codes as new_writable_file. */
  void (*new_appendable_file)(const TF_Filesystem* filesystem, const char* path,
                              TF_WritableFile* file, TF_Status* status);
  /* Codes as new_random_access_file; INVALID_ARGUMENT: the file is empty. Needs the table of
   * regions. */
  void (*new_read_only_memory_region_from_file)(const TF_Filesystem* filesystem, const char* path,
                                                TF_ReadOnlyMemoryRegion* region, TF_Status* status);
  /* NOT_FOUND: a parent is missing. ALREADY_EXISTS: a file or a directory is there.
   * FAILED_PRECONDITION: invalid. */
  void (*create_dir)(const TF_Filesystem* filesystem, const char* path, TF_Status* status);
  /* OK where the directory is there. FAILED_PRECONDITION: invalid, or what is there is no
   * directory. */
  void (*recursively_create_dir)(const TF_Filesystem* filesystem, const char* path,
                                 TF_Status* status);
  /* NOT_FOUND: missing. FAILED_PRECONDITION: a directory, or invalid. */
  void (*delete_file)(const TF_Filesystem* filesystem, const char* path, TF_Status* status);
  /* NOT_FOUND: missing. FAILED_PRECONDITION: not a directory, not empty, or invalid. */
  void (*delete_dir)(const TF_Filesystem* filesystem, const char* path, TF_Status* status);
  /* Both counters are written on every path: what could not be deleted; 0 and 1 where it could not
   * even start. NOT_FOUND: missing. FAILED_PRECONDITION: invalid. */
  void (*delete_recursively)(const TF_Filesystem* filesystem, const char* path,
                             uint64_t* undeleted_files, uint64_t* undeleted_dirs,
                             TF_Status* status);
  /* Replaces the target; on error both stay as they were. NOT_FOUND: the source, or a parent of
   * either, is missing. FAILED_PRECONDITION: either is a directory, or invalid. */
  void (*rename_file)(const TF_Filesystem* filesystem, const char* source, const char* target,
                      TF_Status* status);
  /* Both exist afterwards with the same content; on error both stay as they were. Codes as
   * rename_file. */
  void (*copy_file)(const TF_Filesystem* filesystem, const char* source, const char* target,
                    TF_Status* status);
  /* OK: a file or directory is there. NOT_FOUND: missing. FAILED_PRECONDITION: invalid. */
  void (*path_exists)(const TF_Filesystem* filesystem, const char* path, TF_Status* status);
  /* True if and only if path_exists would be OK for all. `statuses` is NULL or has one for each
   * path, to be filled. */
  bool (*paths_exist)(const TF_Filesystem* filesystem, char** paths, int num_files,
                      TF_Status** statuses);
  /* Writes the statistics only where it answers OK. NOT_FOUND: missing. FAILED_PRECONDITION:
   * invalid. */
  void (*stat)(const TF_Filesystem* filesystem, const char* path, TF_FileStatistics* stats,
               TF_Status* status);
  /* NOT_FOUND: missing. FAILED_PRECONDITION: invalid. Of a file: false, with OK or
   * FAILED_PRECONDITION (the sources contradict each other; TensorFlow looks at the status only).
   */
  bool (*is_directory)(const TF_Filesystem* filesystem, const char* path, TF_Status* status);
  /* The length that stat gives. NOT_FOUND: missing. FAILED_PRECONDITION: a directory, or invalid.
   */
  int64_t (*get_file_size)(const TF_Filesystem* filesystem, const char* path, TF_Status* status);
  /* A new block of the plugin's allocator, never NULL. */
  char* (*translate_name)(const TF_Filesystem* filesystem, const char* uri);
  /* The number of names in a directory, without "." and ".."; the array and each name are blocks of
   * the plugin's allocator. -1 on error. NOT_FOUND: missing. FAILED_PRECONDITION: a file, or
   * invalid. */
  int (*get_children)(const TF_Filesystem* filesystem, const char* path, char*** entries,
                      TF_Status* status);
  /* The number of names that match the whole pattern: * and ? and [...] do not match "/", \c is c.
   * No match: OK, 0. -1 on error. */
  int (*get_matching_paths)(const TF_Filesystem* filesystem, const char* glob, char*** entries,
                            TF_Status* status);
  void (*flush_caches)(const TF_Filesystem* filesystem);

  /* Transactions: -1 on error. TensorFlow calls none of these six. */

  /* FAILED_PRECONDITION: several transactions at a time are not supported. */
  int (*start_transaction)(const TF_Filesystem* filesystem, TF_TransactionToken** token,
                           TF_Status* status);
  /* Frees the token. NOT_FOUND: not a token of this filesystem. */
  int (*end_transaction)(const TF_Filesystem* filesystem, TF_TransactionToken* token,
                         TF_Status* status);
  /* The path need not exist. NOT_FOUND: bad token. FAILED_PRECONDITION: the path is in another
   * transaction. */
  int (*add_to_transaction)(const TF_Filesystem* filesystem, const char* path,
                            TF_TransactionToken* token, TF_Status* status);
  /* NOT_FOUND: in no transaction. FAILED_PRECONDITION: not a path of this filesystem. */
  int (*get_transaction_for_path)(const TF_Filesystem* filesystem, const char* path,
                                  TF_TransactionToken** token, TF_Status* status);
  /* NOT_FOUND: not a path of this filesystem. FAILED_PRECONDITION: in none, and no second one can
   * be started. */
  int (*get_or_start_transaction_for_path)(const TF_Filesystem* filesystem, const char* path,
                                           TF_TransactionToken** token, TF_Status* status);
  /* A new block of the plugin's allocator, never NULL. */
  char* (*decode_transaction_token)(const TF_Filesystem* filesystem,
                                    const TF_TransactionToken* token);

  /* Configuration. TensorFlow calls only set_filesystem_configuration, with one option at a time.
   */

  /* The array and all in it go to the caller. */
  void (*get_filesystem_configuration)(const TF_Filesystem* filesystem,
                                       TF_Filesystem_Option** options, int* num_options,
                                       TF_Status* status);
  /* The options are the caller's: copy them. */
  void (*set_filesystem_configuration)(const TF_Filesystem* filesystem,
                                       const TF_Filesystem_Option* options, int num_options,
                                       TF_Status* status);
  /* NOT_FOUND: no such key. */
  void (*get_filesystem_configuration_option)(const TF_Filesystem* filesystem, const char* key,
                                              TF_Filesystem_Option** option, TF_Status* status);
  /* NOT_FOUND: no such key (the option's name). */
  void (*set_filesystem_configuration_option)(const TF_Filesystem* filesystem,
                                              const TF_Filesystem_Option* option,
                                              TF_Status* status);
  /* The type is one level of indirection short; what `keys` is cannot be told. */
  void (*get_filesystem_configuration_keys)(const TF_Filesystem* filesystem, char** keys,
                                            int* num_keys, TF_Status* status);
} TF_FilesystemOps;

/* ------------------------------------------------------------------------------------------------
 * Registration */

/* ABI: must equal the host's. API: logged where it differs. SIZE: bytes of the table; the host
 * copies at most this many and treats the entries behind it as NULL. */
#define TF_RANDOM_ACCESS_FILE_OPS_ABI 0
#define TF_RANDOM_ACCESS_FILE_OPS_API 0
#define TF_RANDOM_ACCESS_FILE_OPS_SIZE sizeof(TF_RandomAccessFileOps)
#define TF_WRITABLE_FILE_OPS_ABI 0
#define TF_WRITABLE_FILE_OPS_API 0
#define TF_WRITABLE_FILE_OPS_SIZE sizeof(TF_WritableFileOps)
#define TF_READ_ONLY_MEMORY_REGION_OPS_ABI 0
#define TF_READ_ONLY_MEMORY_REGION_OPS_API 0
#define TF_READ_ONLY_MEMORY_REGION_OPS_SIZE sizeof(TF_ReadOnlyMemoryRegionOps)
#define TF_FILESYSTEM_OPS_ABI 0
#define TF_FILESYSTEM_OPS_API 0
#define TF_FILESYSTEM_OPS_SIZE sizeof(TF_FilesystemOps)

/* One scheme. The scheme and the tables are blocks of plugin_memory_allocate, each used once: the
 * host frees them. */
typedef struct TF_FilesystemPluginOps {
  char* scheme;
  int filesystem_ops_abi;
  int filesystem_ops_api;
  size_t filesystem_ops_size;
  TF_FilesystemOps* filesystem_ops;
  int random_access_file_ops_abi;
  int random_access_file_ops_api;
  size_t random_access_file_ops_size;
  TF_RandomAccessFileOps* random_access_file_ops;
  int writable_file_ops_abi;
  int writable_file_ops_api;
  size_t writable_file_ops_size;
  TF_WritableFileOps* writable_file_ops;
  int read_only_memory_region_ops_abi;
  int read_only_memory_region_ops_api;
  size_t read_only_memory_region_ops_size;
  TF_ReadOnlyMemoryRegionOps* read_only_memory_region_ops;
} TF_FilesystemPluginOps;

/* Arrives zeroed; the plugin fills in everything. `ops` has one entry a scheme and is freed by the
 * host too. */
typedef struct TF_FilesystemPluginInfo {
  size_t num_schemes;
  TF_FilesystemPluginOps* ops;
  void* (*plugin_memory_allocate)(size_t size);
  void (*plugin_memory_free)(void* block); /* takes NULL */
} TF_FilesystemPluginInfo;

#define TF_FS_VERSION(table, TABLE)            \
  ops->table##_ops_abi = TF_##TABLE##_OPS_ABI; \
  ops->table##_ops_api = TF_##TABLE##_OPS_API; \
  ops->table##_ops_size = TF_##TABLE##_OPS_SIZE
/* Says in an entry what it was compiled against: all but the scheme and the tables themselves. */
static inline void TF_SetFilesystemVersionMetadata(TF_FilesystemPluginOps* ops) {
  TF_FS_VERSION(filesystem, FILESYSTEM);
  TF_FS_VERSION(random_access_file, RANDOM_ACCESS_FILE);
  TF_FS_VERSION(writable_file, WRITABLE_FILE);
  TF_FS_VERSION(read_only_memory_region, READ_ONLY_MEMORY_REGION);
}
#undef TF_FS_VERSION

TF_CAPI_EXPORT void TF_InitPlugin(TF_FilesystemPluginInfo* plugin_info);

#endif /* TENSORFLOW_C_EXPERIMENTAL_FILESYSTEM_FILESYSTEM_INTERFACE_H_ */

/* ------------------------------------------------------------------------------------------------
 * Layout (LP64) */

#define TF_FS_SIZE(type, size) \
  TF_FS_STATIC_ASSERT(sizeof(type) == (size), #type " has the wrong size")
#define TF_FS_AT(type, field, offset)                                              \
  TF_FS_STATIC_ASSERT(offsetof(type, field) == (offset), #type "." #field          \
                                                               " is in the wrong " \
                                                               "place")

TF_FS_SIZE(TF_RandomAccessFile, 8);
TF_FS_SIZE(TF_WritableFile, 8);
TF_FS_SIZE(TF_ReadOnlyMemoryRegion, 8);
TF_FS_SIZE(TF_Filesystem, 8);
TF_FS_SIZE(TF_TransactionToken, 16);
TF_FS_AT(TF_TransactionToken, token, 0);
TF_FS_AT(TF_TransactionToken, owner, 8);
TF_FS_SIZE(TF_FileStatistics, 24);
TF_FS_AT(TF_FileStatistics, length, 0);
TF_FS_AT(TF_FileStatistics, mtime_nsec, 8);
TF_FS_AT(TF_FileStatistics, is_directory, 16);
TF_FS_SIZE(TF_Filesystem_Option_Value_Union, 16);
TF_FS_AT(TF_Filesystem_Option_Value_Union, buffer_val.buf, 0);
TF_FS_AT(TF_Filesystem_Option_Value_Union, buffer_val.buf_length, 8);
TF_FS_SIZE(TF_Filesystem_Option_Value, 16);
TF_FS_AT(TF_Filesystem_Option_Value, type_tag, 0);
TF_FS_AT(TF_Filesystem_Option_Value, num_values, 4);
TF_FS_AT(TF_Filesystem_Option_Value, values, 8);
TF_FS_SIZE(TF_Filesystem_Option, 32);
TF_FS_AT(TF_Filesystem_Option, name, 0);
TF_FS_AT(TF_Filesystem_Option, description, 8);
TF_FS_AT(TF_Filesystem_Option, per_file, 16);
TF_FS_AT(TF_Filesystem_Option, value, 24);
TF_FS_SIZE(TF_RandomAccessFileOps, 16);
TF_FS_AT(TF_RandomAccessFileOps, cleanup, 0);
TF_FS_AT(TF_RandomAccessFileOps, read, 8);
TF_FS_SIZE(TF_WritableFileOps, 48);
TF_FS_AT(TF_WritableFileOps, cleanup, 0);
TF_FS_AT(TF_WritableFileOps, append, 8);
TF_FS_AT(TF_WritableFileOps, tell, 16);
TF_FS_AT(TF_WritableFileOps, flush, 24);
TF_FS_AT(TF_WritableFileOps, sync, 32);
TF_FS_AT(TF_WritableFileOps, close, 40);
TF_FS_SIZE(TF_ReadOnlyMemoryRegionOps, 24);
TF_FS_AT(TF_ReadOnlyMemoryRegionOps, cleanup, 0);
TF_FS_AT(TF_ReadOnlyMemoryRegionOps, data, 8);
TF_FS_AT(TF_ReadOnlyMemoryRegionOps, length, 16);
TF_FS_SIZE(TF_FilesystemOps, 264);
TF_FS_AT(TF_FilesystemOps, init, 0);
TF_FS_AT(TF_FilesystemOps, cleanup, 8);
TF_FS_AT(TF_FilesystemOps, new_random_access_file, 16);
TF_FS_AT(TF_FilesystemOps, new_writable_file, 24);
TF_FS_AT(TF_FilesystemOps, new_appendable_file, 32);
TF_FS_AT(TF_FilesystemOps, new_read_only_memory_region_from_file, 40);
TF_FS_AT(TF_FilesystemOps, create_dir, 48);
TF_FS_AT(TF_FilesystemOps, recursively_create_dir, 56);
TF_FS_AT(TF_FilesystemOps, delete_file, 64);
TF_FS_AT(TF_FilesystemOps, delete_dir, 72);
TF_FS_AT(TF_FilesystemOps, delete_recursively, 80);
TF_FS_AT(TF_FilesystemOps, rename_file, 88);
TF_FS_AT(TF_FilesystemOps, copy_file, 96);
TF_FS_AT(TF_FilesystemOps, path_exists, 104);
TF_FS_AT(TF_FilesystemOps, paths_exist, 112);
TF_FS_AT(TF_FilesystemOps, stat, 120);
TF_FS_AT(TF_FilesystemOps, is_directory, 128);
TF_FS_AT(TF_FilesystemOps, get_file_size, 136);
TF_FS_AT(TF_FilesystemOps, translate_name, 144);
TF_FS_AT(TF_FilesystemOps, get_children, 152);
TF_FS_AT(TF_FilesystemOps, get_matching_paths, 160);
TF_FS_AT(TF_FilesystemOps, flush_caches, 168);
TF_FS_AT(TF_FilesystemOps, start_transaction, 176);
TF_FS_AT(TF_FilesystemOps, end_transaction, 184);
TF_FS_AT(TF_FilesystemOps, add_to_transaction, 192);
TF_FS_AT(TF_FilesystemOps, get_transaction_for_path, 200);
TF_FS_AT(TF_FilesystemOps, get_or_start_transaction_for_path, 208);
TF_FS_AT(TF_FilesystemOps, decode_transaction_token, 216);
TF_FS_AT(TF_FilesystemOps, get_filesystem_configuration, 224);
TF_FS_AT(TF_FilesystemOps, set_filesystem_configuration, 232);
TF_FS_AT(TF_FilesystemOps, get_filesystem_configuration_option, 240);
TF_FS_AT(TF_FilesystemOps, set_filesystem_configuration_option, 248);
TF_FS_AT(TF_FilesystemOps, get_filesystem_configuration_keys, 256);
TF_FS_SIZE(TF_FilesystemPluginOps, 104);
TF_FS_AT(TF_FilesystemPluginOps, scheme, 0);
TF_FS_AT(TF_FilesystemPluginOps, filesystem_ops_abi, 8);
TF_FS_AT(TF_FilesystemPluginOps, filesystem_ops_api, 12);
TF_FS_AT(TF_FilesystemPluginOps, filesystem_ops_size, 16);
TF_FS_AT(TF_FilesystemPluginOps, filesystem_ops, 24);
TF_FS_AT(TF_FilesystemPluginOps, random_access_file_ops_abi, 32);
TF_FS_AT(TF_FilesystemPluginOps, random_access_file_ops_api, 36);
TF_FS_AT(TF_FilesystemPluginOps, random_access_file_ops_size, 40);
TF_FS_AT(TF_FilesystemPluginOps, random_access_file_ops, 48);
TF_FS_AT(TF_FilesystemPluginOps, writable_file_ops_abi, 56);
TF_FS_AT(TF_FilesystemPluginOps, writable_file_ops_api, 60);
TF_FS_AT(TF_FilesystemPluginOps, writable_file_ops_size, 64);
TF_FS_AT(TF_FilesystemPluginOps, writable_file_ops, 72);
TF_FS_AT(TF_FilesystemPluginOps, read_only_memory_region_ops_abi, 80);
TF_FS_AT(TF_FilesystemPluginOps, read_only_memory_region_ops_api, 84);
TF_FS_AT(TF_FilesystemPluginOps, read_only_memory_region_ops_size, 88);
TF_FS_AT(TF_FilesystemPluginOps, read_only_memory_region_ops, 96);
TF_FS_SIZE(TF_FilesystemPluginInfo, 32);
TF_FS_AT(TF_FilesystemPluginInfo, num_schemes, 0);
TF_FS_AT(TF_FilesystemPluginInfo, ops, 8);
TF_FS_AT(TF_FilesystemPluginInfo, plugin_memory_allocate, 16);
TF_FS_AT(TF_FilesystemPluginInfo, plugin_memory_free, 24);

#undef TF_FS_AT
#undef TF_FS_SIZE
#undef TF_FS_STATIC_ASSERT

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* TF_FILESYSTEM_PLUGIN_H_ */
