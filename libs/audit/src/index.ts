export { AuditApiModule, AuditModule, type AuditModuleOptions } from './audit.module.js';
export { AuditOptions } from './audit-options.js';
export { AuditRetention } from './audit-retention.js';
export { AuditChain, canonicalJson, type ChainHead } from './chain/audit-chain.js';
export { systemEntry, type AuditActor, type AuditEntry } from './chain/audit-entry.js';
export { AUDIT_INVARIANTS } from './chain/audit-invariants.js';
export { AuditLog, type SystemAction } from './chain/audit-log.js';
export { AuditStore, type Verified } from './chain/audit-store.js';
export { createAuditTables, dropAuditTables } from './chain/audit-tables.js';
export { AuditLogQuery } from './read/audit-log.dto.js';
export { AuditLogsService } from './read/audit-logs.service.js';
export { AuditRecorder } from './record/audit-recorder.js';
export { AuditRules, LOGIN_ACTION, type Fields } from './record/audit-rules.js';
export {
  decodeSegment,
  makeTarget,
  restTarget,
  segmentsOf,
  verbOf,
  type AuditTarget,
  type RestNames,
} from './record/audit-target.js';
export { readRow, withoutColumns, type TableOfResource } from './record/row-reader.js';
export { AuditWitness } from './witness/audit-witness.js';
