/** What the reference of the API says of each operation below its summary, by operation id. */
export const OPERATION_DESCRIPTIONS: Readonly<Record<string, string>> = {
  auditLogs_list:
    'Lists who changed what, and when. Filter by actor, action, resource and time; page with `cursor`. For administrators.',
  auditLogs_verify:
    'Recomputes the hash chain of the audit log and compares it with the copy that is kept outside the database. For administrators.',
  auth_logIn:
    'Checks username, password and, where the account has a second factor, `code`. The token works as `Authorization: Bearer`; consoles ask for a cookie instead. Repeated failures slow down.',
  auth_logOut: 'Ends the session of the token or cookie.',
  auth_me: 'Returns the user with role and second factor. With an API key, also its scopes.',
  auth_setupState: 'Tells a console whether to show the setup page. Needs no credentials.',
  auth_runSetup:
    'Creates the first administrator. The setup token is in the data folder of the service, so only someone with access to the machine can do this, and only once.',
  ownAccount_changePassword:
    'Sets another password. Other sessions end; API keys end as well unless `revoke_keys` is false.',
  ownAccount_beginTotp:
    'Returns a secret and an `otpauth://` address for an authenticator app. Nothing changes until a code confirms it.',
  ownAccount_confirmTotp: 'Turns the second factor on and returns recovery codes, which appear in this answer only.',
  ownAccount_endTotp: 'Turns the second factor off. Needs the password and a code.',
  ownAccount_renewRecoveryCodes: 'Replaces all recovery codes. The new ones appear in this answer only.',
  ownAccount_readPreferences: 'Returns language and theme as the user chose them; null where nothing was chosen.',
  ownAccount_savePreferences:
    'Keeps language and theme for every browser of the user. A field that is absent keeps its value.',
  deviceLogins_begin:
    'Gives a machine without a browser a code of its own and one for its user, for ten minutes, in the shape of RFC 8628. Needs no credentials.',
  deviceLogins_poll:
    'Says whether the user has decided. Ask every `interval` seconds: who asks earlier gets `slow_down` and waits five seconds longer from then on. Once approved, the answer has an API key with the scopes `read` and `write`, named after the machine. Needs no credentials.',
  deviceLogins_find:
    'Returns name and address of the machine that shows a code. Codes that are entered are counted, right or wrong: 30 an hour of an account, 100 of a network.',
  deviceLogins_decide:
    'Approves or refuses the login of a machine. Approving needs the current password, and a code where the account has a second factor.',
  users_list: 'Lists users. Users who are not administrators see only themselves.',
  users_create: 'Creates a user with a role: admin, user or viewer. For administrators who are signed in.',
  users_get: 'Returns one user.',
  users_update:
    'Changes name, role, status or password, or resets the second factor. Disabling a user ends sessions, keys and agents at once.',
  users_remove: 'Deletes a user. Clients that the user owns need a new owner in `transfer_to`.',
  sessions_list: 'Lists open sessions with address and browser. Administrators see those of all users.',
  sessions_endOthers: 'Ends all sessions of the caller except the one that sends this request.',
  sessions_end: 'Ends one session.',
  apiKeys_list: 'Lists API keys: name, scopes, expiry and last use. Administrators see those of all users.',
  apiKeys_create:
    'Creates a key for `X-API-Key`, shown in this answer only. A key can never do more than its user. Needs the current password.',
  apiKeys_get: 'Returns one key without its secret.',
  apiKeys_revokeOwn: 'Revokes the API key that the request is sent with. The agent does so when its user logs out.',
  apiKeys_revoke: 'Revokes the key at once.',
  gateway_get: 'Returns the addresses and ports where agents connect and where visitors arrive.',
  edges_list:
    'Lists the data planes that share the database, with load, agents, connections and the revision of the configuration that each has in force: a change has reached an edge when its `revision` is at least the `revision` that this answers after the change. For administrators.',
  edges_drain:
    'Has an edge drained: its agents move to other edges, nobody new is accepted, and connections have ten minutes to end. It stays drained until it is let serve again or restarted. For administrators.',
  edges_serve: 'Lets a drained edge serve again. For administrators.',
  clients_list: 'Lists clients with their agents’ state and traffic. Filter by owner, status or text.',
  clients_create:
    'Creates a client. The answer has the key for its agent and the command that starts the agent. The key is never shown again.',
  clients_get: 'Returns one client with the state of its agent.',
  clients_update: 'Changes name, limits or status. Limits apply to open connections at once.',
  clients_remove: 'Deletes a client with its tunnels and hosts. Its agent is disconnected.',
  clients_rotateKey:
    'Creates another key, which is never shown again. The old key works for `grace_seconds`, so that the agent can be updated.',
  clients_lease:
    'Makes the client temporary: it is deleted with its tunnels and hosts after `seconds`, unless this is called again before. The agent does so for what it publishes from its command line. Renewals are not in the audit log.',
  clients_kick:
    'Ends the session of the agent and its connections. The agent may connect again; disable the client to keep it away.',
  clients_resetTraffic:
    'Sets the totals of a client, its tunnels and its hosts to zero. Traffic by minute, hour and day is kept.',
  clients_connections: 'Lists the visitors who are connected through this client now.',
  tunnels_list: 'Lists tunnels. Filter by client, mode, port, status or text.',
  tunnels_create:
    'Creates a tunnel. Modes tcp, udp, http_proxy, socks5, mix_proxy and file open a port of the gateway; secret and p2p are reached through an agent of the visitor. Port 0 picks a free port of the range.',
  tunnels_get: 'Returns one tunnel with its state.',
  tunnels_update: 'Changes a tunnel. Visitors stay connected where the change allows it.',
  tunnels_remove: 'Deletes a tunnel. Its port is closed and its visitors are disconnected.',
  tunnels_start: 'Opens the port of the tunnel.',
  tunnels_stop: 'Closes the port of the tunnel and disconnects its visitors. The configuration stays.',
  tunnels_rotateVisitorKey:
    'Creates another key for visitors of a secret or p2p tunnel, which is never shown again. The old key stops working.',
  tunnelChecks_check:
    'Opens a connection to the target through the agent and looks at port and access rules. The answer says in words what is wrong. ' +
    '`port` chooses one of several.',
  hosts_list: 'Lists hosts. Filter by client, status or name.',
  hosts_create: 'Publishes a web site under a name. With `auto_https` the gateway orders and renews a certificate.',
  hosts_get: 'Returns one host with the state of its certificate.',
  hosts_update: 'Changes target, headers, paths, HTTPS or limits of a host.',
  hosts_remove: 'Deletes a host. Visitors get 404 from then on.',
  hostRequests_list:
    'Lists the last requests of a host that records them (`record_requests`), newest first, with times, sizes and visitor; also those that are running. Filter by method, status, visitor or a part of the path. Edges keep them in memory for an hour, at most 500 for each host. Secrets are masked before they are kept.',
  hostRequests_get:
    'Returns one request. With `record_requests` full, it has heads and the first 64 KiB of bodies: text as text, other bytes as base64.',
  hostRequests_har:
    'Returns the requests of the same filter as HTTP Archive 1.2, oldest first, up to `limit` and about 16 MB of bodies. Cookies are left out.',
  hostRequests_replay:
    'Sends a request that was recorded in full again, through the same host to its target, as from the same visitor and past visitor authentication. Header fields that were masked are left out unless `headers` sets them; a masked path or body has to be given. The target gets `X-Gatehouse-Replay` with the id of the first request. The answer is in the record of the new request.',
  hostChecks_check:
    'Sends a request to the target through the agent and looks at DNS, certificate and access rules. The answer says in words what is wrong.',
  domains_list: 'Lists names and their owners. Users see their own.',
  domains_create:
    'Claims a name. A TXT record proves that the user controls it; a name that an administrator adds needs no proof.',
  domains_get: 'Returns one name with the TXT record to set.',
  domains_remove: 'Releases the name. Hosts below it are kept.',
  domains_verify: 'Looks up the TXT record now.',
  certificates_list: 'Lists certificates with names, issuer and expiry. Filter by client or source.',
  certificates_get: 'Returns the certificate that a host serves. The id is that of the host.',
  hostCertificates_upload:
    'Installs a certificate chain and its key. They must belong together and cover the name of the host.',
  hostCertificates_remove:
    'Removes the certificate of a host. A wildcard certificate of the gateway serves it then, if there is one.',
  hostCertificates_renew: 'Orders a certificate by ACME now. The state of the host says how it went.',
  addressLists_list:
    'Lists the lists of addresses that rules can name, with the state of the last fetch. For administrators.',
  addressLists_create:
    'Adds a list of addresses: a text at a URL with an address, a network or a range to a line. The gateway fetches it now and in every interval. A rule of kind `list` names it.',
  addressLists_get: 'Returns one list of addresses, without its content.',
  addressLists_update:
    'Changes URL or interval of a list. With another URL it is fetched now, and the former content stays until then. The name cannot be changed.',
  addressLists_remove: 'Deletes a list. As long as rules name it, it cannot be deleted.',
  addressLists_refresh:
    'Fetches a list now. The answer shows how it went: a failure leaves the former content and sets `last_error`.',
  ipRules_list:
    'Lists allow and deny rules for addresses, countries, autonomous systems and lists of addresses. Filter by scope, resource or pattern.',
  ipRules_create:
    'Adds a rule for an address, a network, a country, an autonomous system or a list of addresses, for everything, the console, a user, a client, a tunnel or a host; `paths` and `methods` narrow it to requests of hosts. Connected visitors that it denies are disconnected.',
  ipRules_check:
    'Evaluates the rules for an address. The answer shows the decision of each level and the rule that made it.',
  ipRules_get: 'Returns one rule.',
  ipRules_update: 'Changes a rule. Scope and resource cannot be changed.',
  ipRules_remove: 'Deletes a rule. A rule whose removal would lock the caller out needs `force`.',
  authPolicies_list: 'Lists visitor verification of hosts and tunnels. Filter by resource.',
  authPolicies_create:
    'Adds a way for visitors of a client, tunnel or host to sign in: one password, names with passwords, OAuth, or a callback to a web service of yours. Passing one policy of a resource is enough.',
  authPolicies_get: 'Returns one policy without its secrets.',
  authPolicies_update: 'Changes a policy. Visitors who signed in before must sign in again.',
  authPolicies_remove:
    'Deletes a policy. A resource without a policy is open to every visitor that the IP rules allow.',
  flowStats_list: 'Lists total bytes and connections of users, clients, tunnels and hosts.',
  flowStats_series: 'Returns bytes and connections of one resource by minute, hour or day (UTC).',
  requestIps_list: 'Lists the addresses that visited, with hits and the last visit.',
  dashboard_get: 'Returns counts, rates and states of everything that the caller may see.',
  changes_follow:
    'Server-sent events: each `changed` event has the names of the lists whose data has changed, at most five times a second. The first names all of them (`*`).',
  events_list:
    'Lists events of agents, tunnels, certificates and refused visitors. With `Accept: text/event-stream` new events arrive as they happen; `last_event_id` continues after a lost connection.',
  webhooks_list: 'Lists webhooks with the state of their last delivery.',
  webhooks_create:
    'Adds an address that receives events as signed POST requests. The secret for the signature appears in this answer only.',
  webhooks_get: 'Returns one webhook without its secret.',
  webhooks_update: 'Changes name, address, event types or status of a webhook.',
  webhooks_remove: 'Deletes a webhook and its waiting deliveries.',
  webhooks_rotateSecret: 'Creates another secret for the signature, shown in this answer only.',
  webhooks_deliveries: 'Lists deliveries with attempts, status and error. Filter by status.',
  webhooks_test: 'Sends one message of type `webhook.test`. The deliveries show the result.',
  transfer_import:
    'Reads configuration files of frp or nps and creates what they describe, in one transaction. `dry_run` shows the result without storing it. The answer lists the result for each line.',
  transfer_export:
    'Downloads users, clients, tunnels, hosts and rules without secrets. With `hashes` it includes the hashes of passwords and keys, so that they work after a restore.',
  transfer_restore: 'Creates everything in an export, in one transaction.',
};
