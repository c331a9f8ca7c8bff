import { CreateSubscriptions1763668800100 } from './1763668800100-create-subscriptions.js';
import { CreateNodes1763668800110 } from './1763668800110-create-nodes.js';
import { CreateOutbound1763668800120 } from './1763668800120-create-outbound.js';
import { CreateSettings1763668800200 } from './1763668800200-create-settings.js';
import { CreateRules1763668800210 } from './1763668800210-create-rules.js';
import { CreateTraffic1763668800220 } from './1763668800220-create-traffic.js';
import { CreateAuth1763668800230 } from './1763668800230-create-auth.js';
import { CreateIdempotencyKeys1763668800240 } from './1763668800240-create-idempotency-keys.js';
import { CreateNodeHealth1763668800300 } from './1763668800300-create-node-health.js';
import { CreateJobCancellations1763668800301 } from './1763668800301-create-job-cancellations.js';
import { CreateRuleSets1763668800310 } from './1763668800310-create-rule-sets.js';
import { CreateJobOutbox1763668800311 } from './1763668800311-create-job-outbox.js';
import { ExtendOutboundGroups1763668800320 } from './1763668800320-extend-outbound-groups.js';
import { CreateAuditLogs1763668800330 } from './1763668800330-create-audit-logs.js';
import { CreateRuntimeLogs1763668800331 } from './1763668800331-create-runtime-logs.js';
import { CreateGeoDatabases1763668800332 } from './1763668800332-create-geo-databases.js';
import { ScheduleSubscriptions1763668800340 } from './1763668800340-schedule-subscriptions.js';
import { CreateTrafficLogSections1763668800350 } from './1763668800350-create-traffic-log-sections.js';
import { NameUsersOfAuditedKeys1763668800400 } from './1763668800400-name-users-of-audited-keys.js';
import { CreateDataKeys1763668800450 } from './1763668800450-create-data-keys.js';
import { ClaimIdempotencyKeys1763668800690 } from './1763668800690-claim-idempotency-keys.js';
import { UseSqlFiles1763668800700 } from './1763668800700-use-sql-files.js';
import { CreateAccountingSpools1763668800750 } from './1763668800750-create-accounting-spools.js';
import { AnnounceChanges1763668800760 } from './1763668800760-announce-changes.js';
import { KeepPreferences1763668800770 } from './1763668800770-keep-preferences.js';
import { CreateKernels1763668800780 } from './1763668800780-create-kernels.js';
import { TakeProfiles1763668800790 } from './1763668800790-take-profiles.js';
import { CreatePublications1763668800800 } from './1763668800800-create-publications.js';
import { AnnouncePublications1763668800810 } from './1763668800810-announce-publications.js';
import { PlaceOwnRules1763668800830 } from './1763668800830-place-own-rules.js';
import { CountFetches1763668800840 } from './1763668800840-count-fetches.js';
import { CreatePublicationTemplates1763668800860 } from './1763668800860-create-publication-templates.js';
import { AnnouncePublicationTemplates1763668800870 } from './1763668800870-announce-publication-templates.js';
import { CreateProxyUsers1763668800880 } from './1763668800880-create-proxy-users.js';
import { AnnounceProxyUsers1763668800890 } from './1763668800890-announce-proxy-users.js';
import { CreatePublicationMarks1763668800900 } from './1763668800900-create-publication-marks.js';
import { MarkPublicationChanges1763668800910 } from './1763668800910-mark-publication-changes.js';
import { MarkWithoutSearchPath1763668800920 } from './1763668800920-mark-without-search-path.js';

/** Every migration of the service, oldest first. */
export const MIGRATIONS = [
  CreateSubscriptions1763668800100,
  CreateNodes1763668800110,
  CreateOutbound1763668800120,
  CreateSettings1763668800200,
  CreateRules1763668800210,
  CreateTraffic1763668800220,
  CreateAuth1763668800230,
  CreateIdempotencyKeys1763668800240,
  CreateNodeHealth1763668800300,
  CreateJobCancellations1763668800301,
  CreateRuleSets1763668800310,
  CreateJobOutbox1763668800311,
  ExtendOutboundGroups1763668800320,
  CreateAuditLogs1763668800330,
  CreateRuntimeLogs1763668800331,
  CreateGeoDatabases1763668800332,
  ScheduleSubscriptions1763668800340,
  CreateTrafficLogSections1763668800350,
  NameUsersOfAuditedKeys1763668800400,
  CreateDataKeys1763668800450,
  ClaimIdempotencyKeys1763668800690,
  UseSqlFiles1763668800700,
  CreateAccountingSpools1763668800750,
  AnnounceChanges1763668800760,
  KeepPreferences1763668800770,
  CreateKernels1763668800780,
  TakeProfiles1763668800790,
  CreatePublications1763668800800,
  AnnouncePublications1763668800810,
  PlaceOwnRules1763668800830,
  CountFetches1763668800840,
  CreatePublicationTemplates1763668800860,
  AnnouncePublicationTemplates1763668800870,
  CreateProxyUsers1763668800880,
  AnnounceProxyUsers1763668800890,
  CreatePublicationMarks1763668800900,
  MarkPublicationChanges1763668800910,
  MarkWithoutSearchPath1763668800920,
];
