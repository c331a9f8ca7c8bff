import { CreateUsers1763668802000 } from './1763668802000-create-users.js';
import { CreateClients1763668802100 } from './1763668802100-create-clients.js';
import { CreateAccess1763668802101 } from './1763668802101-create-access.js';
import { CreateCounters1763668802102 } from './1763668802102-create-counters.js';
import { CreateEdgeState1763668802103 } from './1763668802103-create-edge-state.js';
import { CreatePolicyOptions1763668802104 } from './1763668802104-create-policy-options.js';
import { CreateFlowBuckets1763668802130 } from './1763668802130-create-flow-buckets.js';
import { CreateAccessState1763668802140 } from './1763668802140-create-access-state.js';
import { CreateAcme1763668802150 } from './1763668802150-create-acme.js';
import { BoundAcmeOrders1763668802151 } from './1763668802151-bound-acme-orders.js';
import { CreateEvents1763668802160 } from './1763668802160-create-events.js';
import { CreateWebhooks1763668802161 } from './1763668802161-create-webhooks.js';
import { CreateIdempotencyKeys1763668802170 } from './1763668802170-create-idempotency-keys.js';
import { CreateConfigChanges1763668802171 } from './1763668802171-create-config-changes.js';
import { IndexRuleLists1763668802172 } from './1763668802172-index-rule-lists.js';
import { CreateVisitorGrants1763668802180 } from './1763668802180-create-visitor-grants.js';
import { TellPolicyVersions1763668802181 } from './1763668802181-tell-policy-versions.js';
import { CreateAuditLogs1763668802401 } from './1763668802401-create-audit-logs.js';
import { CreateDomains1763668802400 } from './1763668802400-create-domains.js';
import { CreateDataKeys1763668802450 } from './1763668802450-create-data-keys.js';
import { ConfirmChallenges1763668802460 } from './1763668802460-confirm-challenges.js';
import { AddStrictPaths1763668802470 } from './1763668802470-add-strict-paths.js';
import { ClaimIdempotencyKeys1763668802690 } from './1763668802690-claim-idempotency-keys.js';
import { BoundCounters1763668802691 } from './1763668802691-bound-counters.js';
import { ExchangeIdentity1763668802700 } from './1763668802700-exchange-identity.js';
import { KeepPreviousKeys1763668802710 } from './1763668802710-keep-previous-keys.js';
import { UseSqlFiles1763668802720 } from './1763668802720-use-sql-files.js';
import { KeepFormerIdentity1763668802730 } from './1763668802730-keep-former-identity.js';
import { CreateUserPreferences1763668802740 } from './1763668802740-create-user-preferences.js';
import { AnnounceChanges1763668802750 } from './1763668802750-announce-changes.js';
import { CreateEdges1763668802800 } from './1763668802800-create-edges.js';
import { CountEdges1763668802801 } from './1763668802801-count-edges.js';
import { CreateClientLeases1763668802900 } from './1763668802900-create-client-leases.js';
import { RecordRequests1763668802910 } from './1763668802910-record-requests.js';
import { AnnounceRecording1763668802911 } from './1763668802911-announce-recording.js';
import { AddHostOptions1763668802920 } from './1763668802920-add-host-options.js';
import { AnnounceHostOptions1763668802921 } from './1763668802921-announce-host-options.js';
import { CheckHostTargets1763668802930 } from './1763668802930-check-host-targets.js';
import { AnnounceHostChecks1763668802931 } from './1763668802931-announce-host-checks.js';
import { CreateDeviceLogins1763668802940 } from './1763668802940-create-device-logins.js';
import { CreateTrafficQuotas1763668803000 } from './1763668803000-create-traffic-quotas.js';
import { CountTrafficQuotas1763668803001 } from './1763668803001-count-traffic-quotas.js';
import { AddHostAnswers1763668803010 } from './1763668803010-add-host-answers.js';
import { AnnounceHostAnswers1763668803011 } from './1763668803011-announce-host-answers.js';
import { LimitTunnelRates1763668803020 } from './1763668803020-limit-tunnel-rates.js';
import { AnnounceTunnelRates1763668803021 } from './1763668803021-announce-tunnel-rates.js';
import { AddAsnRules1763668803050 } from './1763668803050-add-asn-rules.js';
import { AddPortRanges1763668803060 } from './1763668803060-add-port-ranges.js';
import { AnnouncePortRanges1763668803061 } from './1763668803061-announce-port-ranges.js';
import { AddRequestRules1763668803070 } from './1763668803070-add-request-rules.js';
import { AnnounceRequestRules1763668803071 } from './1763668803071-announce-request-rules.js';
import { CreateAddressLists1763668803090 } from './1763668803090-create-address-lists.js';
import { AnnounceAddressLists1763668803091 } from './1763668803091-announce-address-lists.js';

/** Every migration, oldest first. */
export const MIGRATIONS = [
  CreateUsers1763668802000,
  CreateClients1763668802100,
  CreateAccess1763668802101,
  CreateCounters1763668802102,
  CreateEdgeState1763668802103,
  CreatePolicyOptions1763668802104,
  CreateFlowBuckets1763668802130,
  CreateAccessState1763668802140,
  CreateAcme1763668802150,
  BoundAcmeOrders1763668802151,
  CreateEvents1763668802160,
  CreateWebhooks1763668802161,
  CreateIdempotencyKeys1763668802170,
  CreateConfigChanges1763668802171,
  IndexRuleLists1763668802172,
  CreateVisitorGrants1763668802180,
  TellPolicyVersions1763668802181,
  CreateDomains1763668802400,
  CreateAuditLogs1763668802401,
  CreateDataKeys1763668802450,
  ConfirmChallenges1763668802460,
  AddStrictPaths1763668802470,
  ClaimIdempotencyKeys1763668802690,
  BoundCounters1763668802691,
  ExchangeIdentity1763668802700,
  KeepPreviousKeys1763668802710,
  UseSqlFiles1763668802720,
  KeepFormerIdentity1763668802730,
  CreateUserPreferences1763668802740,
  AnnounceChanges1763668802750,
  CreateEdges1763668802800,
  CountEdges1763668802801,
  CreateClientLeases1763668802900,
  RecordRequests1763668802910,
  AnnounceRecording1763668802911,
  AddHostOptions1763668802920,
  AnnounceHostOptions1763668802921,
  CheckHostTargets1763668802930,
  AnnounceHostChecks1763668802931,
  CreateDeviceLogins1763668802940,
  CreateTrafficQuotas1763668803000,
  CountTrafficQuotas1763668803001,
  AddHostAnswers1763668803010,
  AnnounceHostAnswers1763668803011,
  LimitTunnelRates1763668803020,
  AnnounceTunnelRates1763668803021,
  AddAsnRules1763668803050,
  AddPortRanges1763668803060,
  AnnouncePortRanges1763668803061,
  AddRequestRules1763668803070,
  AnnounceRequestRules1763668803071,
  CreateAddressLists1763668803090,
  AnnounceAddressLists1763668803091,
];
