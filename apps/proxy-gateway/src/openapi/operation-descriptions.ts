/** What the reference of the API says of each operation below its summary, by operation id. */
export const OPERATION_DESCRIPTIONS: Readonly<Record<string, string>> = {
  auditLogs_list: 'Lists who changed what, and when. Filter by actor, action, resource and time; page with `cursor`.',
  auditLogs_verify:
    'Recomputes the hash chain of the audit log and compares it with the copy that is kept outside the database.',
  auth_login: 'Returns a token for `Authorization: Bearer`. Repeated failures slow down. Needs no credentials.',
  auth_readPreferences:
    'Returns language and theme as the administrator chose them in the console; null where nothing was chosen.',
  auth_savePreferences: 'Keeps language and theme for every browser. A field that is absent keeps its value.',
  auth_changePassword: 'Sets another password. Every other token stops working; API keys stay.',
  auth_status: 'Tells a client whether this gateway asks for credentials. Needs no credentials.',
  apiKeys_list: 'Lists the keys: name, scopes, expiry and last use. The keys themselves are not stored.',
  apiKeys_create: 'Creates a key for `X-API-Key`. The key appears in this answer only.',
  apiKeys_revoke: 'Revokes the key at once.',
  subscriptions_list:
    'Lists the subscriptions with the state of their last refresh and the traffic that the provider reports.',
  subscriptions_create:
    'Stores a subscription and fetches it. With `bring_rules` its whole profile is taken: groups, rules, rule and proxy providers, name servers. Clash documents and lists of share links, also in base64, are recognized. The answer says how many nodes came and which lines were not understood.',
  subscriptions_preview:
    'Reads a document from an address, a stored subscription or a text, and says what taking its whole profile would do: which groups and rules are carried, what stands for others, and what is left out and why. Stores nothing.',
  profiles_list:
    'Lists the profiles that came with subscriptions (`bring_rules`), each with its report, and says which one drives the rules and what went before.',
  profiles_activate:
    'Makes the profile of a subscription drive the rules; null: none, so that only rules made here apply. Nothing is lost: the previous choice is in the answer, and choosing it again goes back.',
  proxyUsers_list:
    'Lists the users of the proxy with their limits, what they carried and their open connections. Filter by name or note and by status. Callers that may only read do not see passwords.',
  proxyUsers_get: 'Returns one user of the proxy.',
  proxyUsers_create:
    'Adds a user that may log in at every port of the proxy at once. Limits that are left out do not exist. Without a password a random one is made. From the first user on the proxy needs a login.',
  proxyUsers_update:
    'Changes a user. Kernels have the change when the answer comes: open connections end if the user may no longer have them, and others get the new rate. A field that is absent keeps its value.',
  proxyUsers_resetTraffic:
    'Counts the traffic of the present period from zero, so that a user that has used up its quota may go on.',
  proxyUsers_traffic:
    'Returns what the user carried in a period, hour by hour, with the number of its connections and of those that failed.',
  proxyUsers_remove: 'Deletes the user and ends its connections. What it carried stays in the statistics.',
  publications_list: 'Lists the publications with their limits and last use. The tokens themselves are not stored.',
  publications_get: 'Returns one publication, without its token.',
  publications_create:
    'Stores which nodes a document has, what the steps do with them and which groups and rules stand around them, and makes the address that clients subscribe to. The token appears in this answer only. Needs a login.',
  publications_preview:
    'Writes the document of a definition without storing anything: which nodes are in it, what the target cannot express, and why. The document holds credentials.',
  publications_update:
    'Changes a publication; clients get the new document at their next fetch. A field that is absent keeps its value.',
  publications_renewToken:
    'Gives the publication another token, which appears in this answer only. The address with the one before answers 404. Needs a login.',
  publications_remove: 'Deletes the publication. Its address answers 404 at once.',
  publicationTemplates_list:
    'Lists the documents of your own that publications can put their nodes into, and which publications use each.',
  publicationTemplates_get:
    'Returns one template with its text. Callers without the scope write get null for the text, which may hold credentials.',
  publicationTemplates_create:
    'Stores a configuration of Clash, sing-box, Surge, Loon or Quantumult X with groups and rules of your own. It is checked; an error names the line. Publications name it in `template_ids`.',
  publicationTemplates_preview:
    'Puts the nodes of a publication, or every enabled node, into a text without storing it. The document holds credentials.',
  publicationTemplates_update:
    'Changes name or text; clients get the new document at their next fetch. A field that is absent keeps its value.',
  publicationTemplates_remove: 'Deletes a template that no publication uses.',
  publicationFetch_fetch:
    'Returns the document of a publication to a client. `target` names the format; without it the User-Agent decides, and other programs get base64 of links. `only=nodes` leaves groups and rules out. Answers 304 to a matching `If-None-Match`. The token is the only credential.',
  subscriptions_get: 'Returns one subscription with the state of its last refresh.',
  subscriptions_update: 'Changes name, address, interval or options. The next refresh uses them.',
  subscriptions_remove: 'Deletes the subscription. Nodes that another subscription contains stay.',
  subscriptions_lastRefresh:
    'Returns what the last refresh added, changed and removed, and the lines that it could not use.',
  subscriptions_refresh:
    'Fetches the address now and compares the nodes. A refresh that would remove most nodes is refused unless `force` is set.',
  nodeTransfer_export: 'Downloads the manual nodes, as JSON or as share links.',
  nodeTransfer_import:
    'Adds nodes from share links, a Clash document or an export. `dry_run` shows the result without storing it. The answer names each line that could not be used.',
  nodeBatch_ids:
    'Returns all ids for the given filter in the given order. Consoles use it to show long lists and to select everything.',
  nodeBatch_run: 'Applies one change to many nodes. The answer says for each node whether it was done, and why not.',
  nodes_list:
    'Lists nodes with their last delay, health and traffic. Filter by subscription, country, type, state, tag or text.',
  nodes_create:
    'Adds a node from a share link, from `host:port[:user:password]`, or from one Clash entry as YAML or JSON.',
  nodes_update:
    'Changes name, configuration, tags, country or whether the node is enabled. Absent fields stay as they are.',
  nodes_remove: 'Deletes a manual node. Nodes of a subscription go with the subscription; disable them instead.',
  speedTests_testAll:
    'Starts a job that measures the delay of every enabled node. Poll the job, follow its events, or set `wait` to get the results in this answer.',
  speedTests_test: 'Measures the delay of one node through a real request and returns it.',
  countries_list: 'Counts the nodes of each country, for filters and groups.',
  countries_rebuild:
    'Looks up the country of each node again, from its name and its address. Countries that were set by hand stay.',
  jobs_get: 'Returns the state, progress and, page by page, the results of a job.',
  jobs_cancel: 'Asks a running job to stop. What it did until then stays.',
  jobs_follow: 'Server-sent events: `progress` while the job runs, and a final `end`.',
  outbound_overview:
    'Returns all groups with the member that each uses, and the default policy. `members` chooses how much of the member lists comes along.',
  outbound_setDefaultPolicy: 'Sets where traffic goes that no rule matches: a group, a node, `DIRECT` or `REJECT`.',
  outbound_create: 'Creates a group of type select, url-test, fallback or load-balance.',
  outbound_group: 'Returns one group with its members, their delays, and the member in use.',
  outbound_update: 'Changes type, members, filter or test settings of a group. Absent fields stay as they are.',
  outbound_remove: 'Deletes a group. Refused while rules or other groups use it.',
  outbound_choose:
    'Makes the group use this member until it is released. With `close_connections`, connections through the former member end.',
  outbound_release:
    'Removes the manual choice. Groups of type url-test and fallback choose automatically from then on.',
  outbound_history: 'Lists when the group changed its member, from which to which, and why.',
  ruleTransfer_export: 'Downloads the manual rules, as JSON or as Clash lines.',
  ruleTransfer_import:
    'Adds rules from Clash lines or an export. `dry_run` shows the result without storing it. The answer names each line that could not be used.',
  rules_list:
    'Lists rules with hits and state. `source` narrows the list to rules that were added by hand, came with subscriptions or rule sets, or belong to the system.',
  rules_create: 'Adds a rule at a place in the order. Rules are evaluated from the top; the first match decides.',
  rules_listMerged: 'Lists manual rules and rules of subscriptions in the order in which the kernel evaluates them.',
  rules_get: 'Returns one rule with its hits and, if it is not in use, the reason.',
  rules_update: 'Changes a manual rule or moves it to another place. Absent fields stay as they are.',
  rules_remove: 'Deletes a manual rule. Rules of a subscription are changed by the subscription only.',
  rules_test:
    'Evaluates the rules for an address as the kernel would. The answer says for each rule why it matched or not.',
  ruleSets_list: 'Lists the rule sets with their size and the state of their last refresh.',
  ruleSets_create: 'Adds a rule set from an address, a file or its own entries. Rules use it as `RULE-SET`.',
  ruleSets_get: 'Returns one rule set.',
  ruleSets_update: 'Changes name, address, interval or content of a rule set.',
  ruleSets_remove: 'Deletes a rule set. Refused while rules use it, unless `force` is set.',
  ruleSets_refresh: 'Fetches the rule set now. An unchanged answer of its server is recognized, unless `force` is set.',
  connections_list:
    'Lists open connections with rule, chain, rates and totals. Filter by node, rule, client, inbound or text.',
  connections_closeMany: 'Closes all connections that match the same filters as the list.',
  connections_close: 'Closes one connection.',
  trafficLogs_list: 'Lists finished connections with result, rule, chain and bytes. Page with `cursor`.',
  dashboard_read: 'Returns current rates, totals of a period, and the domains and nodes with the most traffic.',
  system_status: 'Returns versions, uptime, and the state of the kernel, the database and the queue.',
  system_reload: 'Loads the configuration into the kernel again. Open connections stay where their node stays.',
  kernels_list:
    'Lists the kernels that carry traffic: state, version, configuration, connections and rates. Kernels that run on their own hold a lease; one that no service reaches is `lost` after 20 seconds.',
  kernels_drain:
    'Closes the listeners of a kernel, so that load balancers send nobody there. Open connections may end. Its `/readyz` answers 503.',
  kernels_serve: 'Opens the listeners again.',
  geo_status: 'Returns the dates and sources of the country and site databases.',
  geo_update: 'Fetches the databases now. A broken download changes nothing.',
  changes_follow:
    'Server-sent events: each `changed` event has the names of the lists whose data has changed, at most five times a second. The first names all of them (`*`).',
  runtimeLogs_list:
    'Lists log lines of the service, its worker and the kernel. Filter by level, source, text or request id.',
  runtimeLogs_follow:
    'Server-sent events: each new log line is one event. `Last-Event-ID` continues after a lost connection.',
  settings_read: 'Returns every setting with its value.',
  settings_defaults: 'Returns every setting with its default. `PUT /settings` with such a value resets a setting.',
  settings_change:
    'Changes the settings that the body names. One wrong value changes nothing, and the answer says which and why.',
};
