import type { ProfileReason } from '@gatehouse/contracts';

/** Why an item of a profile is not carried exactly as written. Their Chinese is in `profile-texts.zh-CN.ts`. */
export const PROFILE_TEXTS: Readonly<Record<ProfileReason, string>> = {
  becomes_subscription: 'A proxy provider becomes a subscription of its own, which is refreshed by itself.',
  condition_unknown: 'It has a condition that does not exist here. Without the condition it would match more.',
  duplicate_name: 'An earlier entry has the same name, and that one is used.',
  entries_left_out: 'Some of its entries cannot be read, and are left out.',
  file_elsewhere: 'It reads a file on the machine that the profile was made for. Use an http address instead.',
  filter_unreadable:
    'Its filter needs look-behind, look-ahead in the middle or back references. It takes no nodes by this filter.',
  geo_category: 'GEOIP takes country codes, LAN and PRIVATE here. Use a rule set for other lists of addresses.',
  group_empty: 'None of its members exists here, and no filter adds any. The group rejects.',
  group_loop: 'Groups that contain each other cannot decide. The member that closes the circle is left out.',
  group_renamed:
    'A group outside this profile has the name, so that this one gets the name of its subscription in front.',
  group_type_fastest: 'This type of group is not known. The fastest of its members is used.',
  group_type_rejects: 'This type of group is not known. The group rejects, so that no traffic takes another way.',
  host_alias:
    'A host can have addresses here, or those of another host of the profile, but not the name of any other host.',
  inline_nodes: 'Nodes inside a proxy provider are not read. Put them under proxies.',
  machine_setting: 'It belongs to the machine that the profile was made for. The settings of this gateway apply.',
  members_missing: 'Some of its members are no nodes or groups of the profile, and are left out.',
  mrs_classical: 'A binary rule set (mrs) holds domains or addresses; there is none with classical entries.',
  needs_operating_system: 'It needs to know the program or user behind a connection, which a gateway does not.',
  option_ignored: 'It has options that have no effect here.',
  provider_missing: 'It uses a proxy provider that the profile does not have or that is left out.',
  relay_rejects: 'Relay groups are not carried. The group rejects; give the last node a dialer-proxy instead.',
  rule_set_missing: 'It names a rule set that the profile does not have or that is left out.',
  rule_set_renamed: 'A rule set outside this profile has the name, so that this one is stored under another one.',
  rule_unreadable: 'It is not a rule that can be read here.',
  server_kind: 'Only name servers over UDP, TCP and HTTPS, for domains, are supported.',
  site_list_missing: 'There is no list of sites of that name. The rule has no effect until an update brings one.',
  sub_rule_missing: 'It names a list of rules that the profile does not have, or lists that name each other.',
  sub_rule_written_out: 'The rules of the list are written out, each together with the condition.',
  target_missing: 'Its target is no node, group or built-in policy.',
  target_replaced: 'Its target is a way to reject that is not known here. REJECT stands for it.',
  too_large: 'It has more entries than are read.',
  too_many: 'There are more entries than are read.',
  unreadable: 'It cannot be read.',
  url_unusable: 'Its address is not an http or https address.',
};
