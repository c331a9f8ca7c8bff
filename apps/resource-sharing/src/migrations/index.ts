import { CreateSiteAccounts1763668801000 } from './1763668801000-create-site-accounts.js';
import { AddPremiumAndPermissions1763668801010 } from './1763668801010-add-premium-and-permissions.js';
import { CreateApplications1763668801100 } from './1763668801100-create-applications.js';
import { CreateGrants1763668801101 } from './1763668801101-create-grants.js';
import { CreateAuditEvents1763668801102 } from './1763668801102-create-audit-events.js';
import { AnnounceAccountChanges1763668801103 } from './1763668801103-announce-account-changes.js';
import { CreateTitlesAndShares1763668801110 } from './1763668801110-create-titles-and-shares.js';
import { CreatePointsLedger1763668801120 } from './1763668801120-create-points-ledger.js';
import { CreateUnlocks1763668801121 } from './1763668801121-create-unlocks.js';
import { CreateCheckIns1763668801122 } from './1763668801122-create-check-ins.js';
import { CreateIdempotencyKeys1763668801123 } from './1763668801123-create-idempotency-keys.js';
import { CreateUsage1763668801130 } from './1763668801130-create-usage.js';
import { CreateLimits1763668801131 } from './1763668801131-create-limits.js';
import { CreateRisk1763668801132 } from './1763668801132-create-risk.js';
import { DescribeSessions1763668801140 } from './1763668801140-describe-sessions.js';
import { ShutSharesWithTheirOwners1763668801160 } from './1763668801160-shut-shares-with-their-owners.js';
import { LetEmailAddressesRepeat1763668801161 } from './1763668801161-let-email-addresses-repeat.js';
import { ProposeApplicationChanges1763668801162 } from './1763668801162-propose-application-changes.js';
import { UnlockShares1763668801170 } from './1763668801170-unlock-shares.js';
import { AdmitCallsTogether1763668801171 } from './1763668801171-admit-calls-together.js';
import { CreateDataKeys1763668801450 } from './1763668801450-create-data-keys.js';
import { CreateOneTimeTexts1763668801500 } from './1763668801500-create-one-time-texts.js';
import { ChainAuditEvents1763668801400 } from './1763668801400-chain-audit-events.js';
import { TightenLedgerRules1763668801690 } from './1763668801690-tighten-ledger-rules.js';
import { ReopenSharesOneByOne1763668801691 } from './1763668801691-reopen-shares-one-by-one.js';
import { KeepTokensOfRefusedCalls1763668801700 } from './1763668801700-keep-tokens-of-refused-calls.js';
import { UseSqlFiles1763668801710 } from './1763668801710-use-sql-files.js';
import { CreateRefusedCalls1763668801720 } from './1763668801720-create-refused-calls.js';
import { KeepPreferences1763668801730 } from './1763668801730-keep-preferences.js';
import { CreateNotices1763668801740 } from './1763668801740-create-notices.js';
import { UseNoticeSql1763668801741 } from './1763668801741-use-notice-sql.js';
import { TellLimitsOfUnlocks1763668801742 } from './1763668801742-tell-limits-of-unlocks.js';
import { CreateUnlockDigests1763668801750 } from './1763668801750-create-unlock-digests.js';
import { NoticeUnlockDigests1763668801751 } from './1763668801751-notice-unlock-digests.js';
import { CreateMails1763668801760 } from './1763668801760-create-mails.js';
import { CreateSecondFactors1763668801770 } from './1763668801770-create-second-factors.js';
import { NoticeSecondFactors1763668801771 } from './1763668801771-notice-second-factors.js';
import { CreateDeviceCodes1763668801780 } from './1763668801780-create-device-codes.js';
import { CreateIdentityKeys1763668801790 } from './1763668801790-create-identity-keys.js';
import { CreateWebhooks1763668801800 } from './1763668801800-create-webhooks.js';
import { NoteApplicationEvents1763668801801 } from './1763668801801-note-application-events.js';
import { LookForWebhooksFirst1763668801802 } from './1763668801802-look-for-webhooks-first.js';
import { CreateTestLayer1763668801810 } from './1763668801810-create-test-layer.js';
import { UseTestLayerSql1763668801811 } from './1763668801811-use-test-layer-sql.js';
import { MarkTestCalls1763668801812 } from './1763668801812-mark-test-calls.js';
import { SendTestEvents1763668801813 } from './1763668801813-send-test-events.js';
import { NoteTestEvents1763668801814 } from './1763668801814-note-test-events.js';
import { OrderEmptying1763668801815 } from './1763668801815-order-emptying.js';
import { UnlockSeveralShares1763668801820 } from './1763668801820-unlock-several-shares.js';
import { CreateSubscriptions1763668801821 } from './1763668801821-create-subscriptions.js';
import { UseSubscriptionSql1763668801822 } from './1763668801822-use-subscription-sql.js';
import { LookOnceAtAccounts1763668801823 } from './1763668801823-look-once-at-accounts.js';
import { ShutTestShares1763668801824 } from './1763668801824-shut-test-shares.js';
import { UnlockOneByValues1763668801830 } from './1763668801830-unlock-one-by-values.js';
import { CheckColumnsByDomains1763668801831 } from './1763668801831-check-columns-by-domains.js';

/** Every migration, oldest first. */
export const MIGRATIONS = [
  CreateSiteAccounts1763668801000,
  AddPremiumAndPermissions1763668801010,
  CreateApplications1763668801100,
  CreateGrants1763668801101,
  CreateAuditEvents1763668801102,
  AnnounceAccountChanges1763668801103,
  CreateTitlesAndShares1763668801110,
  CreatePointsLedger1763668801120,
  CreateUnlocks1763668801121,
  CreateCheckIns1763668801122,
  CreateIdempotencyKeys1763668801123,
  CreateUsage1763668801130,
  CreateLimits1763668801131,
  CreateRisk1763668801132,
  DescribeSessions1763668801140,
  ShutSharesWithTheirOwners1763668801160,
  LetEmailAddressesRepeat1763668801161,
  ProposeApplicationChanges1763668801162,
  UnlockShares1763668801170,
  AdmitCallsTogether1763668801171,
  ChainAuditEvents1763668801400,
  CreateDataKeys1763668801450,
  CreateOneTimeTexts1763668801500,
  TightenLedgerRules1763668801690,
  ReopenSharesOneByOne1763668801691,
  KeepTokensOfRefusedCalls1763668801700,
  UseSqlFiles1763668801710,
  CreateRefusedCalls1763668801720,
  KeepPreferences1763668801730,
  CreateNotices1763668801740,
  UseNoticeSql1763668801741,
  TellLimitsOfUnlocks1763668801742,
  CreateUnlockDigests1763668801750,
  NoticeUnlockDigests1763668801751,
  CreateMails1763668801760,
  CreateSecondFactors1763668801770,
  NoticeSecondFactors1763668801771,
  CreateDeviceCodes1763668801780,
  CreateIdentityKeys1763668801790,
  CreateWebhooks1763668801800,
  NoteApplicationEvents1763668801801,
  LookForWebhooksFirst1763668801802,
  CreateTestLayer1763668801810,
  UseTestLayerSql1763668801811,
  MarkTestCalls1763668801812,
  SendTestEvents1763668801813,
  NoteTestEvents1763668801814,
  OrderEmptying1763668801815,
  UnlockSeveralShares1763668801820,
  CreateSubscriptions1763668801821,
  UseSubscriptionSql1763668801822,
  LookOnceAtAccounts1763668801823,
  ShutTestShares1763668801824,
  UnlockOneByValues1763668801830,
  CheckColumnsByDomains1763668801831,
];
