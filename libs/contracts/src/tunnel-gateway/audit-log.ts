/** The audit log is the same for all services. */
export type { AuditLogPage, AuditVerification } from '../proxy-gateway/audit-log.js';
