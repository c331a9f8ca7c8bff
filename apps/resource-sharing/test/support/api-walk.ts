import { CALLBACK, PASSWORD } from './third-party.js';

/** Who sends a request: a visitor, a session of a person, or credentials of the open API. */
export type WalkCaller = 'admin' | 'ada' | 'application' | 'client' | 'key' | 'visitor';

/** One request of the walk; `:name` stands for a value that an earlier answer brought. */
export interface WalkStep {
  readonly operation: string;
  readonly as: WalkCaller;
  readonly send: string;
  readonly body?: Readonly<Record<string, unknown>>;
  /** Before the request, another user shares something of the title of the foreign share. */
  readonly meanwhile?: 'share';
  /** Sends this token, as a client of OpenID Connect does that has nothing else to send. */
  readonly bearer?: string;
  /** Sends the body as a form. */
  readonly form?: true;
  /** Values of the answer to keep, by the path at which they stand in it. */
  readonly keep?: Readonly<Record<string, string>>;
  /** The same for parts of texts: what the group of a pattern matches. The request is repeated until there is such a part. */
  readonly find?: Readonly<Record<string, RegExp>>;
}

const SCOPES = ['meta', 'query', 'unlock', 'write', 'vip'];
const IDENTITY = [...SCOPES, 'openid', 'profile', 'email'].join(' ');
const AUTHORIZATION = { client_id: ':client', redirect_uri: CALLBACK, scope: SCOPES.join(' '), state: 'af0ifjsldkj' };
const CLIENT = { client_id: ':client', client_secret: ':secret' };

const REGISTRATION: WalkStep[] = [
  {
    operation: 'account_register',
    as: 'visitor',
    send: 'POST /api/site/register',
    body: { username: 'ada', password: PASSWORD, email: 'ada@example.org' },
    keep: { ada: 'data.id' },
  },
  {
    operation: 'site_logIn',
    as: 'visitor',
    send: 'POST /api/site/login',
    body: { username: 'ada', password: PASSWORD },
  },
  { operation: 'site_me', as: 'ada', send: 'GET /api/site/me' },
  { operation: 'recovery_repeat', as: 'ada', send: 'POST /api/site/me/email-verification' },
  { operation: 'adminMails_list', as: 'admin', send: 'GET /api/site/admin/mails', keep: { mail: 'data.0.id' } },
  {
    operation: 'adminMails_one',
    as: 'admin',
    send: 'GET /api/site/admin/mails/:mail',
    find: { mailToken: /token=([\w.-]+)/ },
  },
  {
    operation: 'recovery_verify',
    as: 'visitor',
    send: 'POST /api/site/email-verification',
    body: { token: ':mailToken' },
  },
  {
    operation: 'account_update',
    as: 'ada',
    send: 'PATCH /api/site/me',
    body: { nickname: 'Ada', avatar_url: 'https://images.example.org/ada.png' },
  },
  {
    operation: 'applications_register',
    as: 'ada',
    send: 'POST /api/site/applications',
    body: { name: 'Film shelf', kind: 'confidential', redirect_uris: [CALLBACK], scopes: SCOPES },
    keep: { client: 'data.client_id' },
  },
  {
    operation: 'applications_update',
    as: 'ada',
    send: 'PATCH /api/site/applications/:client',
    body: { description: 'Shows what friends share', require_pkce: false },
  },
  { operation: 'applications_list', as: 'ada', send: 'GET /api/site/applications' },
  { operation: 'applications_one', as: 'ada', send: 'GET /api/site/applications/:client' },
  {
    operation: 'applications_listSecrets',
    as: 'ada',
    send: 'GET /api/site/applications/:client/secrets',
    keep: { oldSecret: 'data.0.id' },
  },
  {
    operation: 'applications_rotate',
    as: 'ada',
    send: 'POST /api/site/applications/:client/secrets',
    body: { overlap_seconds: 3600, current_password: PASSWORD },
    keep: { secret: 'data.secret' },
  },
  {
    operation: 'applications_revokeSecret',
    as: 'ada',
    send: 'DELETE /api/site/applications/:client/secrets/:oldSecret',
  },
];

const HOOKS = '/api/site/applications/:adminClient/webhooks';

const WEBHOOKS: WalkStep[] = [
  {
    operation: 'webhooks_create',
    as: 'admin',
    send: `POST ${HOOKS}`,
    body: {
      name: 'Film shelf',
      url: 'https://hooks.example.org/gatehouse',
      event_types: ['grant.ended', 'quota.near'],
    },
    keep: { webhook: 'data.id' },
  },
  { operation: 'webhooks_list', as: 'admin', send: `GET ${HOOKS}` },
  { operation: 'webhooks_one', as: 'admin', send: `GET ${HOOKS}/:webhook` },
  {
    operation: 'webhooks_update',
    as: 'admin',
    send: `PATCH ${HOOKS}/:webhook`,
    body: { event_types: [], enabled: true },
  },
  { operation: 'webhooks_replaceSecret', as: 'admin', send: `POST ${HOOKS}/:webhook/secret` },
  { operation: 'webhooks_test', as: 'admin', send: `POST ${HOOKS}/:webhook/test`, keep: { delivery: 'data.id' } },
  { operation: 'webhooks_deliveries', as: 'admin', send: `GET ${HOOKS}/:webhook/deliveries?status=delivered&limit=10` },
  { operation: 'webhooks_delivery', as: 'admin', send: `GET ${HOOKS}/:webhook/deliveries/:delivery` },
  { operation: 'webhooks_replay', as: 'admin', send: `POST ${HOOKS}/:webhook/deliveries/:delivery/replay` },
  { operation: 'webhooks_replayGivenUp', as: 'admin', send: `POST ${HOOKS}/:webhook/replay` },
  { operation: 'webhooks_remove', as: 'admin', send: `DELETE ${HOOKS}/:webhook` },
];

const REVIEW: WalkStep[] = [
  {
    operation: 'adminLimits_save',
    as: 'admin',
    send: 'PUT /api/site/admin/quota-profiles/generous',
    body: { app_per_minute: 6000, user_per_minute: 600, user_per_day: 100_000 },
  },
  { operation: 'adminLimits_list', as: 'admin', send: 'GET /api/site/admin/quota-profiles' },
  {
    operation: 'adminApplications_list',
    as: 'admin',
    send: 'GET /api/site/admin/applications?status=pending&page_size=10',
  },
  { operation: 'adminApplications_one', as: 'admin', send: 'GET /api/site/admin/applications/:client' },
  {
    operation: 'adminApplications_review',
    as: 'admin',
    send: 'PATCH /api/site/admin/applications/:client',
    body: { auth_level: 'verified', status: 'approved', quota_profile: 'generous' },
  },
  { operation: 'adminUsers_list', as: 'admin', send: 'GET /api/site/admin/users?search=ada' },
  { operation: 'adminUsers_one', as: 'admin', send: 'GET /api/site/admin/users/:ada' },
  {
    operation: 'adminUsers_change',
    as: 'admin',
    send: 'PATCH /api/site/admin/users/:ada',
    body: { premium_until: '2099-12-31T00:00:00Z', permissions: ['share:manage', 'resource:notify'] },
  },
  {
    operation: 'adminUsers_grant',
    as: 'admin',
    send: 'POST /api/site/admin/users/:ada/points',
    body: { points: 100, ref: 'welcome-ada', note: 'Welcome' },
  },
];

const AUTHORIZATIONS: WalkStep[] = [
  { operation: 'serverMetadata_read[0]', as: 'visitor', send: 'GET /.well-known/oauth-authorization-server' },
  { operation: 'serverMetadata_read[1]', as: 'visitor', send: 'GET /.well-known/oauth-authorization-server/oauth2' },
  { operation: 'serverMetadata_read[2]', as: 'visitor', send: 'GET /.well-known/openid-configuration' },
  { operation: 'identity_jwks', as: 'visitor', send: 'GET /oauth2/jwks' },
  {
    operation: 'openOAuth_preview',
    as: 'ada',
    send: `GET /api/public/openapi/oauth/authorize?client_id=:client&redirect_uri=${encodeURIComponent(CALLBACK)}&scope=meta%20query&state=af0ifjsldkj`,
  },
  {
    operation: 'openOAuth_confirm',
    as: 'ada',
    send: 'POST /api/public/openapi/oauth/authorize',
    body: { ...AUTHORIZATION, scope: IDENTITY, nonce: 'n-0S6_WzA2Mj' },
    keep: { standardCode: 'data.code' },
  },
  {
    operation: 'standardOAuth_token',
    as: 'visitor',
    send: 'POST /oauth2/token',
    form: true,
    body: { grant_type: 'authorization_code', code: ':standardCode', redirect_uri: CALLBACK, ...CLIENT },
    keep: { standardToken: 'access_token' },
  },
  {
    operation: 'identity_read',
    as: 'visitor',
    send: 'GET /oauth2/userinfo',
    bearer: ':standardToken',
  },
  {
    operation: 'identity_post',
    as: 'visitor',
    send: 'POST /oauth2/userinfo',
    form: true,
    body: { access_token: ':standardToken' },
  },
  {
    operation: 'standardOAuth_deviceAuthorization',
    as: 'visitor',
    send: 'POST /oauth2/device_authorization',
    form: true,
    body: { scope: 'meta query', ...CLIENT },
    keep: { deviceCode: 'device_code', userCode: 'user_code' },
  },
  {
    operation: 'standardOAuth_introspect',
    as: 'visitor',
    send: 'POST /oauth2/introspect',
    form: true,
    body: { token: ':standardToken', ...CLIENT },
  },
  {
    operation: 'standardOAuth_revoke',
    as: 'visitor',
    send: 'POST /oauth2/revoke',
    form: true,
    body: { token: ':standardToken', token_type_hint: 'access_token', ...CLIENT },
  },
  {
    operation: 'openOAuth_confirm',
    as: 'ada',
    send: 'POST /api/public/openapi/oauth/authorize',
    body: AUTHORIZATION,
    keep: { code: 'data.code' },
  },
  {
    operation: 'openOAuth_token',
    as: 'client',
    send: 'POST /api/public/openapi/oauth/token',
    body: { grant_type: 'authorization_code', code: ':code', redirect_uri: CALLBACK },
    keep: { firstRefresh: 'data.refresh_token' },
  },
  {
    operation: 'openOAuth_refresh',
    as: 'client',
    send: 'POST /api/public/openapi/oauth/refresh',
    body: { refresh_token: ':firstRefresh' },
    keep: { token: 'data.access_token', refresh: 'data.refresh_token' },
  },
];

const OPEN_API: WalkStep[] = [
  { operation: 'quota_ping', as: 'application', send: 'GET /api/open/ping' },
  { operation: 'quota_quota', as: 'application', send: 'GET /api/open/quota' },
  { operation: 'profile_me', as: 'application', send: 'GET /api/open/me' },
  {
    operation: 'links_check',
    as: 'application',
    send: 'POST /api/open/check/resource',
    body: { url: 'https://115.com/s/swz9x8y7?password=a1b2' },
  },
  {
    operation: 'shares_create',
    as: 'application',
    send: 'POST /api/open/shares',
    body: {
      url: 'https://115.com/s/swz9x8y7?password=a1b2',
      tmdb_id: '603',
      media_type: 'movie',
      title: 'The Matrix, remastered',
      share_size: '21.4 GB',
      video_resolution: ['4K'],
      source: ['WEB-DL/WEBRip'],
      unlock_points: 5,
    },
    keep: { slug: 'data.slug' },
  },
  { operation: 'shares_list', as: 'application', send: 'GET /api/open/shares?page=1&page_size=20' },
  { operation: 'shares_detail', as: 'application', send: 'GET /api/open/shares/:slug' },
  {
    operation: 'shares_update',
    as: 'application',
    send: 'PATCH /api/open/shares/:slug',
    body: { subtitle_language: ['简英双语'], remark: 'With both sound tracks' },
  },
  { operation: 'resources_ofTitle', as: 'application', send: 'GET /api/open/resources/movie/603' },
  {
    operation: 'unlocks_unlock',
    as: 'application',
    send: 'POST /api/open/resources/unlock',
    body: { slug: ':foreignSlug' },
  },
  {
    operation: 'subscriptions_subscribe',
    as: 'application',
    send: 'POST /api/open/subscriptions',
    body: { target_type: 'media_resource', target_key: 'movie::title' },
    keep: { subscription: 'data.id' },
  },
  { operation: 'subscriptions_list', as: 'application', send: 'GET /api/open/subscriptions?q=movie::title' },
  {
    operation: 'messages_list',
    as: 'application',
    send: 'GET /api/open/messages?type=subscription&status=unread',
    meanwhile: 'share',
    keep: { message: 'data.0.id' },
  },
  { operation: 'messages_unread', as: 'application', send: 'GET /api/open/messages/unread-count' },
  { operation: 'messages_read', as: 'application', send: 'POST /api/open/messages/read', body: { ids: [7, 8] } },
  { operation: 'messages_readAll', as: 'application', send: 'POST /api/open/messages/read-all' },
  {
    operation: 'subscriptions_unsubscribe',
    as: 'application',
    send: 'DELETE /api/open/subscriptions/:subscription',
  },
  { operation: 'checkIn_checkIn', as: 'application', send: 'POST /api/open/checkin', body: { is_gambler: false } },
  { operation: 'weeklyFree_quota', as: 'application', send: 'GET /api/open/vip/weekly-free-quota' },
  { operation: 'entitlements_read', as: 'application', send: 'GET /api/open/vip/entitlements' },
  {
    operation: 'keys_create',
    as: 'ada',
    send: 'POST /api/site/keys',
    body: { name: 'Laptop', scopes: ['meta', 'query'], current_password: PASSWORD },
    keep: { key: 'data.secret', keyId: 'data.id' },
  },
  { operation: 'keys_list', as: 'ada', send: 'GET /api/site/keys' },
  { operation: 'quota_ping', as: 'key', send: 'GET /api/open/ping' },
  { operation: 'usage_usage', as: 'application', send: 'GET /api/open/usage' },
  { operation: 'usage_today', as: 'application', send: 'GET /api/open/usage/today' },
];

const ADMINISTRATION: WalkStep[] = [
  { operation: 'adminShares_list', as: 'admin', send: 'GET /api/site/admin/shares?search=matrix' },
  {
    operation: 'adminShares_change',
    as: 'admin',
    send: 'PATCH /api/site/admin/shares/:slug',
    body: { is_official: true },
  },
  { operation: 'adminShares_remove', as: 'admin', send: 'DELETE /api/site/admin/shares/:foreignSlug' },
  {
    operation: 'adminOperations_switch',
    as: 'admin',
    send: 'PUT /api/site/admin/endpoints',
    body: { operation: 'POST /api/open/checkin', enabled: false, reason: 'Maintenance until noon' },
  },
  { operation: 'adminOperations_endpoints', as: 'admin', send: 'GET /api/site/admin/endpoints' },
  { operation: 'adminOperations_events', as: 'admin', send: 'GET /api/site/admin/events?user_id=:ada&limit=3' },
  { operation: 'adminLimits_raised', as: 'admin', send: 'GET /api/site/admin/risk' },
  { operation: 'adminLimits_ofUser', as: 'admin', send: 'GET /api/site/admin/risk/:ada' },
  { operation: 'adminLimits_reset', as: 'admin', send: 'POST /api/site/admin/risk/:ada/reset' },
  { operation: 'adminAudit_list', as: 'admin', send: 'GET /api/site/admin/audit-logs?actor=admin&limit=3' },
  { operation: 'adminAudit_verify', as: 'admin', send: 'GET /api/site/admin/audit-logs/verify' },
];

const ENDS: WalkStep[] = [
  { operation: 'ownEvents_list', as: 'ada', send: 'GET /api/site/events?limit=3' },
  {
    operation: 'notices_list',
    as: 'ada',
    send: 'GET /api/site/notices?unread=true&limit=3',
    keep: { notice: 'data.0.id' },
  },
  { operation: 'notices_read', as: 'ada', send: 'POST /api/site/notices/:notice/read' },
  { operation: 'notices_unread', as: 'ada', send: 'GET /api/site/notices/unread' },
  { operation: 'notices_readAll', as: 'ada', send: 'POST /api/site/notices/read', body: {} },
  { operation: 'shares_delete', as: 'application', send: 'DELETE /api/open/shares/:slug' },
  { operation: 'grants_list', as: 'ada', send: 'GET /api/site/grants', keep: { grant: 'data.0.grant_ids.0' } },
  { operation: 'grants_revoke', as: 'ada', send: 'DELETE /api/site/grants/:grant' },
  { operation: 'grants_revokeApplication', as: 'ada', send: 'DELETE /api/site/grants/applications/:client' },
  {
    operation: 'openOAuth_revoke',
    as: 'client',
    send: 'POST /api/public/openapi/oauth/revoke',
    body: { refresh_token: ':refresh' },
  },
  { operation: 'keys_revoke', as: 'ada', send: 'DELETE /api/site/keys/:keyId' },
  {
    operation: 'testKeys_create',
    as: 'ada',
    send: 'POST /api/site/applications/:client/test-keys',
    keep: { testKey: 'data.id' },
  },
  { operation: 'testKeys_list', as: 'ada', send: 'GET /api/site/applications/:client/test-keys' },
  {
    operation: 'testKeys_setPoints',
    as: 'ada',
    send: 'PUT /api/site/applications/:client/test-points',
    body: { points: 500 },
  },
  { operation: 'testKeys_shares', as: 'ada', send: 'GET /api/site/applications/:client/test-shares' },
  { operation: 'testKeys_empty', as: 'ada', send: 'DELETE /api/site/applications/:client/test-data' },
  { operation: 'testKeys_revoke', as: 'ada', send: 'DELETE /api/site/applications/:client/test-keys/:testKey' },
  { operation: 'applications_remove', as: 'ada', send: 'DELETE /api/site/applications/:client' },
  { operation: 'adminLimits_remove', as: 'admin', send: 'DELETE /api/site/admin/quota-profiles/generous' },
  { operation: 'account_listSessions', as: 'ada', send: 'GET /api/site/sessions', keep: { session: 'data.1.id' } },
  { operation: 'account_endSession', as: 'ada', send: 'DELETE /api/site/sessions/:session' },
  { operation: 'recovery_exportAll', as: 'ada', send: 'GET /api/site/me/export' },
  {
    operation: 'secondFactor_begin',
    as: 'ada',
    send: 'POST /api/site/me/second-factor',
    body: { current_password: PASSWORD },
    keep: { factor: 'data.secret' },
  },
  {
    operation: 'secondFactor_confirm',
    as: 'ada',
    send: 'POST /api/site/me/second-factor/confirm',
    body: { code: ':factorCode' },
    keep: { oneCode: 'data.recovery_codes.0' },
  },
  { operation: 'secondFactor_read', as: 'ada', send: 'GET /api/site/me/second-factor' },
  {
    operation: 'secondFactor_renew',
    as: 'ada',
    send: 'POST /api/site/me/second-factor/recovery-codes',
    body: { current_password: PASSWORD, code: ':oneCode' },
    keep: { otherCode: 'data.recovery_codes.0' },
  },
  {
    operation: 'secondFactor_end',
    as: 'ada',
    send: 'POST /api/site/me/second-factor/disable',
    body: { current_password: PASSWORD, code: ':otherCode' },
  },
  {
    operation: 'account_changePassword',
    as: 'ada',
    send: 'POST /api/site/me/password',
    body: { current_password: PASSWORD, new_password: `${PASSWORD} 2`, revoke_keys: true },
  },
  { operation: 'account_endSessions', as: 'ada', send: 'DELETE /api/site/sessions' },
  { operation: 'recovery_request', as: 'visitor', send: 'POST /api/site/password-reset', body: { account: 'ada' } },
  {
    operation: 'adminMails_list',
    as: 'admin',
    send: 'GET /api/site/admin/mails?page_size=10',
    find: { resetMail: /"id":(\d+),"user_id":\d+,"username":"ada","kind":"reset_password"/ },
  },
  {
    operation: 'adminMails_one',
    as: 'admin',
    send: 'GET /api/site/admin/mails/:resetMail',
    find: { resetToken: /token=([\w.-]+)/ },
  },
  {
    operation: 'recovery_complete',
    as: 'visitor',
    send: 'POST /api/site/password-reset/complete',
    body: { token: ':resetToken', new_password: `${PASSWORD} 3` },
  },
  {
    operation: 'site_logIn',
    as: 'visitor',
    send: 'POST /api/site/login',
    body: { username: 'ada', password: `${PASSWORD} 3` },
  },
  { operation: 'account_delete', as: 'ada', send: 'POST /api/site/me/delete', body: { password: `${PASSWORD} 3` } },
  { operation: 'site_logOut', as: 'admin', send: 'POST /api/site/logout' },
];

/** A developer registers, an application is reviewed and acts for its user, and all of it ends: every operation once. */
export const API_WALK: readonly WalkStep[] = [
  ...REGISTRATION,
  ...REVIEW,
  ...WEBHOOKS,
  ...AUTHORIZATIONS,
  ...OPEN_API,
  ...ADMINISTRATION,
  ...ENDS,
];
