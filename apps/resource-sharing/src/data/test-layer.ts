import type { Layer } from '@gatehouse/persistence';

/** The schema of test mode, which backups have, too. */
export const TEST_SCHEMA = 'resource_sharing_test';
const TEST_VIEWS = 'resource_sharing_test_view';
export const TEST_SCHEMAS = [TEST_SCHEMA, TEST_VIEWS];

/** What calls with test keys find before the tables of the service (docs/decisions/0135-test-mode.md). */
export const TEST_LAYER: Omit<Layer, 'sqlFolder'> = {
  searchPath: [TEST_VIEWS, TEST_SCHEMA],
  sqlFiles: [
    'check-in.sql',
    'ledger.sql',
    'risk.sql',
    'shares.sql',
    'single-unlocks.sql',
    'subscriptions.sql',
    'unlocks.sql',
    'weekly-free.sql',
  ],
  setting: 'resource_sharing.test_application',
};

/**
 * Tables that test calls change, which the layer has, too. Every other table is in SHARED_TABLES. A migration that
 * changes one of these changes both.
 */
export const LAYERED_TABLES = [
  'audit_events',
  'check_ins',
  'idempotency_keys',
  'ledger_accounts',
  'ledger_entries',
  'ledger_transactions',
  'messages',
  'risk_events',
  'risk_states',
  'share_counters',
  'share_looks',
  'shares',
  'title_subscriptions',
  'titles',
  'unlocks',
  'weekly_free',
] as const;

/** Tables that test calls read at most, or that count them apart: accounts, applications, grants, limits, usage. */
export const SHARED_TABLES = [
  'access_tokens',
  'account_links',
  'api_keys',
  'application_events',
  'application_redirect_uris',
  'applications',
  'audit_chain',
  'audit_logs',
  'authorization_codes',
  'credential_addresses',
  'credentials',
  'data_keys',
  'device_codes',
  'endpoint_switches',
  'grants',
  'identity_keys',
  'job_outbox',
  'login_attempts',
  'mails',
  'notices',
  'one_time_texts',
  'quota_profiles',
  'quota_used',
  'quota_warnings',
  'rate_limits',
  'recovery_codes',
  'refresh_tokens',
  'refused_calls',
  'revocation_epoch',
  'risk_settings',
  'sessions',
  'sign_in_networks',
  'signing_keys',
  'site_accounts',
  'throttle_windows',
  'unchained_events',
  'unlock_digests',
  'usage_daily',
  'usage_endpoint_daily',
  'user_totp',
  'webhook_attempts',
  'webhook_deliveries',
  'webhooks',
] as const;
