/** What the reference of the API says of each operation below its summary, by operation id. */
export const OPERATION_DESCRIPTIONS: Readonly<Record<string, string>> = {
  quota_ping: 'Use it to test a key. The answer holds the id and name of the key that was sent. Scope: `meta`.',
  quota_quota:
    'Returns when the daily quota starts again (seconds since 1970) and what is left of it. A field is null where no quota applies. Scope: `meta`.',
  usage_usage:
    'Counts calls and failures and gives response times, for the period from `start_date` to `end_date` (`YYYY-MM-DD`, both included). A user’s token narrows it to that user. Scope: `meta`.',
  usage_today: 'Returns the sums of the current day in the time zone of the service. Scope: `meta`.',
  profile_me: 'Returns the name, points, Premium state and permissions of the user. Scope: `vip`.',
  links_check:
    'Recognizes links of the supported drives, takes the access code out of the text, and says whether the link is shared already. Nothing is stored. Scope: `query`.',
  resources_ofTitle:
    'Lists the shares of a title by its number at TMDB, without links and access codes. A title without shares gives an empty list. Scope: `query`.',
  shares_list:
    'Lists what the user shares. With `include=link` the answer holds links and access codes as well. Scope: `write`.',
  shares_create:
    'Shares a link under a title. Name the title by `tmdb_id` and `media_type`, or by one of its ids here. A link can be shared once. Send an `Idempotency-Key` to repeat the request safely. Scope: `write`.',
  shares_detail: 'Returns what a person sees before unlocking: title, size, quality and price. Scope: `query`.',
  shares_update:
    'Changes the fields that the body names and leaves the rest. Only the owner may do this. Scope: `write`.',
  shares_delete: 'Takes the share off the lists. Users who unlocked it before keep their access. Scope: `write`.',
  unlocks_unlock:
    'Returns the link and the access code. A share with a price is paid once: unlocking it again is free. The points move from the user to the owner in one transaction. Scope: `unlock`.',
  checkIn_checkIn:
    'Gives the points of the day, once for each day. `is_gambler` asks for a random amount instead of the fixed one. Scope: `vip`.',
  weeklyFree_quota:
    'Users with lifetime Premium unlock some shares for free each week. Returns the limit, what is used and what is left. Scope: `vip`.',

  openOAuth_preview:
    'Checks an authorization request and returns what the consent page shows: the application, its scopes and the user. The session cookie is the credential.',
  openOAuth_confirm:
    'Records the consent of the user and returns the authorization code, with the address to redirect to. The session cookie is the credential.',
  openOAuth_token:
    'Exchanges an authorization code, or a refresh token, for an access token and a refresh token. A code works once and only with the `redirect_uri` that it was made for. The application authenticates with its secret as `X-API-Key`.',
  openOAuth_refresh:
    'Exchanges a refresh token for a new pair. The old refresh token stops working; using it again ends the whole authorization. The application authenticates with its secret as `X-API-Key`.',
  openOAuth_revoke:
    'Ends the authorization that the refresh token belongs to, with all its access tokens. An unknown token gives the same answer.',
  standardOAuth_token:
    'RFC 6749 for standard OAuth clients: form parameters in, a plain JSON object out. Authenticate with HTTP Basic, with form fields, or with PKCE alone as a public client.',
  standardOAuth_revoke:
    'RFC 7009. Revoking a refresh token ends its authorization; revoking an access token ends that token. An unknown token gives the same answer.',
  standardOAuth_introspect:
    'RFC 7662. Returns the scopes, user and expiry of a token that this client was issued. Other tokens are `active: false`.',
  'serverMetadata_read[0]': 'RFC 8414. Clients read endpoints, grant types and supported methods here.',
  'serverMetadata_read[1]': 'The same document at the address that clients derive from an issuer with a path.',

  applications_list: 'Lists the applications that the signed-in developer registered, with their review state.',
  applications_register:
    'Creates an application with its first secret. The secret appears in this answer only. A new application waits for review; until then only its owner and its test users can authorize it.',
  applications_one: 'Returns the registration of one application, with changes that wait for review.',
  applications_update:
    'Changes the registration. Changes of name, description and redirect URIs of a reviewed application wait for review as `proposed`; the rest applies at once. Sensitive changes need `current_password`.',
  applications_remove: 'Deletes the application. Its secrets, authorizations and tokens stop working at once.',
  applications_listSecrets: 'Lists the secrets that work now, by their last characters and last use.',
  applications_rotate:
    'Creates another secret, shown in this answer only. The old one keeps working for `overlap_seconds`, so that deployed copies can be updated.',
  applications_revokeSecret: 'Revokes one secret at once. Requests with it fail with `INVALID_API_KEY`.',
  keys_list: 'Lists the personal API keys of the account: name, scopes, expiry and last use.',
  keys_create:
    'Creates a key that acts for the account itself. The key appears in this answer only. `expires_at` and `ip_allow` limit where and how long it works.',
  keys_revoke: 'Revokes the key at once, on every replica.',
  grants_list: 'Lists the applications that may act for the account, with the scopes that it granted.',
  grants_revoke: 'Ends one authorization and its tokens.',
  grants_revokeApplication: 'Ends every authorization of one application for this account, with all tokens.',
  ownEvents_list:
    'Lists sign-ins, new keys, authorizations and other security events of the account. Page with `before`.',

  account_register:
    'Creates a member account and signs it in. Registration can be closed in the settings of the service.',
  site_logIn:
    'Checks username and password and sets the session cookie. Repeated failures slow down, for the account and for the address.',
  site_logOut: 'Ends the session of the cookie and removes the cookie.',
  site_me: 'Returns the account of the session.',
  account_update: 'Changes nickname, email or picture. Absent fields stay as they are.',
  account_changePassword:
    'Sets another password. Other sessions and all authorizations of applications end; keys end as well unless `revoke_keys` is false.',
  account_delete: 'Deletes the account permanently, with its applications, keys, authorizations and shares.',
  account_listSessions: 'Lists the open sessions with address and browser, so that a person can recognize them.',
  account_endSession: 'Ends one session of the account.',
  account_endSessions: 'Signs out everywhere, this session included, and ends keys and authorizations.',

  adminApplications_list:
    'Lists the applications of all developers. `status=pending` is the review queue. For administrators.',
  adminApplications_one: 'Returns the registration of any application, with its owner. For administrators.',
  adminApplications_review:
    'Sets status, trust level, scopes and quota profile, or accepts or refuses proposed changes. `seen_at` guards against deciding on a state that changed since. For administrators.',
  adminUsers_list: 'Lists accounts; `search` finds them by name or email. For administrators.',
  adminUsers_one: 'Returns one account with points, Premium state and role. For administrators.',
  adminUsers_change:
    'Changes Premium, permissions or role, or disables the account, which ends its sessions. For administrators.',
  adminUsers_grant:
    'Books points to the account; a negative number takes them. The same `ref` is booked once, so the request can be repeated. For administrators.',
  adminShares_list: 'Lists live shares; `search` finds them by title. For administrators.',
  adminShares_change: 'Marks a share as official or removes the mark. For administrators.',
  adminShares_remove:
    'Takes a share off the lists. Users who unlocked it before keep their access. For administrators.',
  adminOperations_events:
    'Lists security events of all accounts and applications. Page with `before`. For administrators.',
  adminOperations_endpoints:
    'Lists operations that are switched off, with the reason that callers read. For administrators.',
  adminOperations_switch:
    'Switches an operation off or on. While it is off, callers get `ENDPOINT_DISABLED` with the reason. For administrators.',
  adminLimits_list: 'Lists the quota profiles that applications can be given. For administrators.',
  adminLimits_save:
    'Creates or replaces a quota profile. Null or an absent field means no limit of that kind. Applications with this profile get the new limits within seconds. For administrators.',
  adminLimits_remove: 'Deletes a profile. Applications that had it get the default limits. For administrators.',
  adminLimits_raised:
    'Lists users whose behaviour raised their risk tier, or who wait for a decision. For administrators.',
  adminLimits_ofUser: 'Returns the risk tier of a user with the events that led to it. For administrators.',
  adminLimits_reset: 'Sets the user back to tier 0 and clears the counters. For administrators.',
  adminAudit_list:
    'Lists what administrators, users and the service did. Filter by actor, action, resource and time; page with `cursor`. For administrators.',
  adminAudit_verify:
    'Recomputes the hash chain of the audit log and compares it with the copy that is kept outside the database. For administrators.',
};
