export {
  JobFailedError,
  JobHandlersError,
  JobsUnavailableError,
  JobTimeoutError,
  PermanentJobError,
  type JobFailure,
} from './job-errors.js';
export { JobHandler, type JobHandlerOptions } from './job-handler.js';
export type {
  AddAndWaitOptions,
  AddOptions,
  HandlesJobs,
  JobContext,
  JobProgress,
  JobsConfig,
  JobState,
  JobStatus,
  QueueCounts,
  SchedulerOptions,
  UnfinishedJob,
  WorkersMode,
} from './job-types.js';
export { JobsModule, type JobsModuleQueues, type JobsModuleSource } from './jobs.module.js';
export { Jobs } from './jobs.service.js';
export type { KeptSchedules, Schedule, ScheduleSource } from './kept-schedules.js';
export { createJobOutboxTable, dropJobOutboxTable } from './outbox.js';
export { JOBS_SCHEMA, migrateJobs } from './postgres-store.js';
export { Schedules } from './schedules.js';
