/** Descriptions of the operations in the API reference, by operation id. */
export const OPERATION_DESCRIPTIONS: Readonly<Record<string, string>> = {
  quota_ping:
    'Use it to test a key or a token. Returns the id and name of the key that was sent; a token alone has no id. Scope: `meta`.',
  quota_quota:
    'Returns when the daily quota resets (Unix seconds) and how much of it is left. A field is null if no quota applies. Scope: `meta`.',
  usage_usage:
    'Returns calls, failures and response times for the period from `start_date` to `end_date` (`YYYY-MM-DD`, both included). With a user token, only calls for that user count. Scope: `meta`.',
  usage_today: 'Returns the totals of the current day in the time zone of the service. Scope: `meta`.',
  profile_me: 'Returns the name, points, Premium state and permissions of the user. Scope: `vip`.',
  links_check:
    'Recognizes links of the supported drives, finds the access code in the text, and says whether the link is already shared. Nothing is stored. Scope: `query`.',
  resources_ofTitle:
    'Lists the shares of a title by its TMDB id, without links and access codes. The list is empty if the title has no shares. Scope: `query`.',
  shares_list:
    'Lists what the user shares. With `include=link` the answer includes links and access codes. Scope: `write`.',
  shares_create:
    'Shares a link under a title. Name the title by `tmdb_id` and `media_type`, or by one of its ids here. A link can be shared once. Send an `Idempotency-Key` to repeat the request safely. Scope: `write`.',
  shares_detail: 'Returns what a person sees before unlocking: title, size, quality and price. Scope: `query`.',
  shares_update: 'Changes the fields in the body and keeps the others. Only the owner can do this. Scope: `write`.',
  shares_delete: 'Removes the share from all lists. Users who have unlocked it keep their access. Scope: `write`.',
  unlocks_unlock:
    'Returns the link and the access code. A price is paid only once: unlocking the share again is free. The points move from the user to the owner in one transaction. With `slugs` in the place of `slug`, up to 20 shares are unlocked in one transaction, in their order, and each has its own outcome in `items`; the answer is the refusal of a limit only if nothing was unlocked. Scope: `unlock`.',
  subscriptions_list:
    'Lists the subscriptions of the user. `q` finds one by its `target_key`, by TMDB id or by a part of the name. Scope: `write`.',
  subscriptions_subscribe:
    'Subscribes to a title: when somebody else shares something of it, or asks followers to look again, the user gets a message. Subscribing again returns the subscription that is there. `target_key` is the type of the title and `media.id` of any of its shares. A user can have 500. Scope: `write`.',
  subscriptions_unsubscribe: 'Ends a subscription. Messages that it brought stay. Scope: `write`.',
  messages_list:
    'Lists the messages of the user. Those about withdrawn shares are left out, and all are removed after 90 days. Scope: `write`.',
  messages_unread: 'Returns how many messages are unread. Scope: `write`.',
  messages_read:
    'Marks messages as read, up to 200. Ids that are not those of the user change nothing. Scope: `write`.',
  messages_readAll: 'Marks all messages as read. Scope: `write`.',
  checkIn_checkIn:
    'Grants the daily points, once a day. With `is_gambler` the amount is random instead of fixed. Scope: `vip`.',
  weeklyFree_quota:
    'Users with lifetime Premium unlock some shares for free each week. Returns the limit, the number used and the number left. Scope: `vip`.',
  entitlements_read:
    'Returns what Premium gives the user: today the free unlocks of the week, as `GET /api/open/vip/weekly-free-quota` does under other names. 403 `VIP_REQUIRED` without Premium. Scope: `vip`.',

  openOAuth_preview:
    'Checks an authorization request and returns what the consent page shows: the application, its scopes and the user. The session cookie is the credential.',
  openOAuth_confirm:
    'Records the consent of the user and returns the authorization code, with the address to redirect to. The session cookie is the credential.',
  openOAuth_token:
    'Exchanges an authorization code, or a refresh token, for an access token and a refresh token. A code works once and only with the `redirect_uri` that it was made for. The application authenticates with its secret as `X-API-Key`.',
  openOAuth_refresh:
    'Exchanges a refresh token for a new pair. The old refresh token stops working; using it again revokes the whole authorization. The application authenticates with its secret as `X-API-Key`.',
  openOAuth_revoke:
    'Revokes the authorization of the refresh token, with all its access tokens. An unknown token gives the same answer.',
  standardOAuth_token:
    'RFC 6749 for standard OAuth clients: form parameters in, a plain JSON object out. Authenticate with HTTP Basic, with form fields, or with PKCE alone as a public client.',
  standardOAuth_deviceAuthorization:
    'RFC 8628, for televisions and command lines. Show `user_code` and `verification_uri` to the user, then ask the token endpoint every `interval` seconds with the grant type `urn:ietf:params:oauth:grant-type:device_code`. It answers `authorization_pending`, `slow_down`, `access_denied`, `expired_token`, or tokens.',
  standardOAuth_revoke:
    'RFC 7009. Revoking a refresh token revokes its authorization; revoking an access token affects only that token. An unknown token gives the same answer.',
  standardOAuth_introspect:
    'RFC 7662. Returns the scopes, user and expiry of a token that was issued to this client. Other tokens are `active: false`.',
  identity_read:
    'OpenID Connect Core section 5.3. Needs an access token whose user granted `openid`; `profile` and `email` add claims. No API key is accepted.',
  identity_post:
    'The same as a POST, with the token in the header or as `access_token` in a form. A token in an address is never read.',
  identity_jwks:
    'The keys that verify an id_token, found by its `kid`. A key that is replaced stays here until nothing that it signed is valid, and a new one is here before it signs.',
  'serverMetadata_read[0]':
    'RFC 8414 and OpenID Connect Discovery. Lists endpoints, scopes, grant types and supported methods for clients.',
  'serverMetadata_read[1]': 'The same document at the address that clients derive from an issuer with a path.',
  'serverMetadata_read[2]': 'The same document at the address of OpenID Connect Discovery section 4.',

  applications_list: 'Lists the applications of the signed-in developer, with their review status.',
  applications_register:
    'Creates an application with its first secret. The secret appears in this answer only. A new application needs a review; until then only its owner and its test users can authorize it.',
  applications_one: 'Returns one application, with the changes that are waiting for review.',
  applications_update:
    'Changes the registration. For a reviewed application, changes of name, description and redirect URIs wait for review as `proposed`; other changes apply at once. Sensitive changes need `current_password`.',
  applications_remove: 'Deletes the application. Its secrets, authorizations and tokens stop working at once.',
  applications_listSecrets: 'Lists the valid secrets with their last characters and last use.',
  applications_rotate:
    'Creates a new secret, which appears in this answer only. The old one keeps working for `overlap_seconds`, so that deployed copies can be updated.',
  applications_revokeSecret: 'Revokes one secret at once. Requests with it fail with `INVALID_API_KEY`.',
  testKeys_list: 'Lists the test keys with their last characters and last use.',
  testKeys_create:
    'Creates a key for test mode, also before any review. Calls with it have points, shares and unlocks of their own. Shown only in this answer.',
  testKeys_revoke: 'Revokes a test key. It stops working on all servers within a second.',
  testKeys_shares:
    'Lists the made-up shares of test mode: `name` says what comes of unlocking it. They are there from the first test call on.',
  testKeys_setPoints:
    'Sets the points that a user has for this application in test mode. A test account begins with 1,000. Nothing else is touched.',
  testKeys_empty:
    'Removes all points, shares, unlocks and check-ins that were made with test keys of this application. Calls begin again with 1,000 points.',
  webhooks_list: 'Lists the webhooks of the application, without their secrets.',
  webhooks_create:
    'Creates a webhook: an address that receives events of the application, signed as Standard Webhooks says. The secret appears in this answer only. An application can have ten.',
  webhooks_one: 'Returns one webhook. `failing_since` says since when its receiver takes no messages.',
  webhooks_update:
    'Changes the fields in the body and keeps the others. Setting `enabled` to true also forgets earlier failures.',
  webhooks_remove: 'Deletes the webhook, its secret and the log of its deliveries.',
  webhooks_replaceSecret:
    'Creates a new secret, which appears in this answer only. It signs every attempt from now on, also of earlier messages.',
  webhooks_test: 'Sends a message of type `webhook.test` once and returns what the receiver answered.',
  webhooks_replayGivenUp:
    'Sends again what was given up, up to 500 messages, with their ids and bodies. Returns how many there were.',
  webhooks_deliveries:
    'Lists what was sent and what became of it. Page with `before`. Delivered messages are kept for 7 days, those that were given up for 30.',
  webhooks_delivery: 'Returns one delivery: its message, and of every attempt the time, the duration and the answer.',
  webhooks_replay: 'Sends one message again, with the same id and body. It gets all attempts again.',
  keys_list: 'Lists the personal API keys of the account: name, scopes, expiry and last use.',
  keys_create:
    'Creates a key that acts for the account itself. The key appears in this answer only. `expires_at` and `ip_allow` limit how long and from where it works.',
  keys_revoke: 'Revokes the key at once, on every replica.',
  grants_list: 'Lists the applications that can act for the account, with the granted scopes.',
  grants_revoke: 'Revokes one authorization and its tokens.',
  grants_revokeApplication: 'Revokes every authorization of one application for this account, with all tokens.',
  ownEvents_list:
    'Lists sign-ins, new keys, authorizations and other security events of the account. Page with `before`.',
  notices_list:
    'Lists what the account should know of: sign-ins from new addresses, changed passwords, keys, authorizations, reviews and decisions of administrators. Page with `before`.',
  notices_unread: 'Returns how many notices are unread, for a badge. 100 stands for 100 and more.',
  notices_readAll:
    'Marks all notices as read. With `up_to`, the id of the newest one that was shown, those that came later stay unread.',
  notices_read: 'Marks one notice as read. One that was read before stays as it is.',

  account_register:
    'Creates a member account and signs it in. Registration can be closed in the settings of the service.',
  site_logIn:
    'Checks username and password and sets the session cookie. Repeated failures are limited for each account and address.',
  site_logOut: 'Ends the session of the cookie and removes the cookie.',
  site_me: 'Returns the account of the session.',
  account_update: 'Changes nickname, email or picture. Absent fields are not changed.',
  account_changePassword:
    'Sets a new password. Other sessions end and all authorizations of applications are revoked, and so are keys unless `revoke_keys` is false.',
  account_delete: 'Deletes the account permanently, with its applications, keys, authorizations and shares.',
  recovery_exportAll:
    'Returns account, sessions, security log, keys, applications, authorizations, shares, unlocks and points of the account. No secret is part of it. At most five times an hour.',
  recovery_repeat:
    'Sends another link to the address of the account. Older links stop working. At most five mails an hour.',
  recovery_verify: 'Verifies the address that the link was sent to. A link works once, for 24 hours.',
  recovery_request:
    'Sends a link to the verified address of the account. The answer is the same whether there is such an account or not.',
  recovery_complete:
    'Sets a new password with the token of the link, which works once, for an hour. Ends all sessions, keys and authorizations of the account.',
  secondFactor_read: 'Returns whether logins need a code, since when, and how many recovery codes are left.',
  secondFactor_begin:
    'Creates a secret for an authenticator app. Nothing changes until a code of the app confirms it; an unconfirmed secret is replaced.',
  secondFactor_confirm:
    'Turns the second factor on. From then on logins, and every call with `current_password`, need a `code`. The answer has ten recovery codes, each of which replaces one code of the app.',
  secondFactor_end: 'Turns the second factor off. Needs the password and a code, or a recovery code.',
  secondFactor_renew: 'Replaces all recovery codes. Needs the password and a code. The former ones no longer work.',
  account_listSessions: 'Lists the open sessions with address and browser, so that the user can recognize them.',
  account_endSession: 'Ends one session of the account.',
  account_endSessions: 'Signs out everywhere, also in this session, and revokes all keys and authorizations.',

  adminApplications_list:
    'Lists the applications of all developers. `status=pending` is the review queue. For administrators.',
  adminApplications_one: 'Returns the registration of any application, with its owner. For administrators.',
  adminApplications_review:
    'Sets status, trust level, scopes and quota profile, or accepts or rejects proposed changes. `seen_at` prevents a decision about a version that has changed in the meantime. For administrators.',
  adminUsers_list: 'Lists accounts; `search` finds them by name or email. For administrators.',
  adminUsers_one: 'Returns one account with points, Premium state and role. For administrators.',
  adminUsers_change:
    'Changes Premium, permissions or role, or disables the account, which ends its sessions. For administrators.',
  adminUsers_grant:
    'Adds points to the account, or deducts them if the number is negative. Each `ref` takes effect once, so the request can be repeated. For administrators.',
  adminShares_list: 'Lists live shares; `search` finds them by title. For administrators.',
  adminShares_change: 'Marks a share as official or removes the mark. For administrators.',
  adminShares_remove:
    'Takes a share off the lists. Users who unlocked it before keep their access. For administrators.',
  adminOperations_events:
    'Lists security events of all accounts and applications. Page with `before`. For administrators.',
  adminOperations_endpoints:
    'Lists operations that are switched off, with the reason that callers get. For administrators.',
  adminOperations_switch:
    'Switches an operation off or on. While it is off, callers get `ENDPOINT_DISABLED` with the reason. For administrators.',
  adminLimits_list: 'Lists the quota profiles that applications can be given. For administrators.',
  adminLimits_save:
    'Creates or replaces a quota profile. A field that is null or absent means no such limit. Applications with this profile get the new limits within seconds. For administrators.',
  adminLimits_remove: 'Deletes a profile. Applications that had it get the default limits. For administrators.',
  adminLimits_raised:
    'Lists users whose behaviour raised their risk tier, or who are waiting for a decision. For administrators.',
  adminLimits_ofUser: 'Returns the risk tier of a user with the events that led to it. For administrators.',
  adminLimits_reset: 'Resets the user to tier 0 and clears the counters. For administrators.',
  adminMails_list:
    'Lists mails of the last 30 days with their state and the answer of the mail server. For administrators.',
  adminMails_one:
    'Returns the text of a mail, as long as no mail server is configured. The user sees in the events that it was read. For administrators.',
  adminAudit_list:
    'Lists actions of administrators, users and the service. Filter by actor, action, resource and time; page with `cursor`. For administrators.',
  adminAudit_verify:
    'Recomputes the hash chain of the audit log and compares it with the copy that is kept outside the database. For administrators.',
};
