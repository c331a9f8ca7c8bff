/** The parts of a Clash profile besides its nodes. */
export const PROFILE_SECTIONS = [
  'groups',
  'proxy_providers',
  'rule_providers',
  'sub_rules',
  'rules',
  'dns',
  'hosts',
  'sniffer',
  'other',
] as const;
export type ProfileSection = (typeof PROFILE_SECTIONS)[number];

/** `carried`: works as written. `replaced`: something else stands for it. `left_out`: has no effect here. */
export const PROFILE_OUTCOMES = ['carried', 'replaced', 'left_out'] as const;
export type ProfileOutcome = (typeof PROFILE_OUTCOMES)[number];

/** Why an item of a profile is not carried exactly as written. */
export const PROFILE_REASONS = [
  'becomes_subscription',
  'condition_unknown',
  'duplicate_name',
  'entries_left_out',
  'file_elsewhere',
  'filter_unreadable',
  'geo_category',
  'group_empty',
  'group_loop',
  'group_renamed',
  'group_type_fastest',
  'group_type_rejects',
  'host_alias',
  'inline_nodes',
  'machine_setting',
  'members_missing',
  'mrs_classical',
  'needs_operating_system',
  'option_ignored',
  'provider_missing',
  'relay_rejects',
  'rule_set_missing',
  'rule_set_renamed',
  'rule_unreadable',
  'server_kind',
  'site_list_missing',
  'sub_rule_missing',
  'sub_rule_written_out',
  'target_missing',
  'target_replaced',
  'too_large',
  'too_many',
  'unreadable',
  'url_unusable',
] as const;
export type ProfileReason = (typeof PROFILE_REASONS)[number];

/** How many items of a section have which outcome. */
export interface ProfileSectionReport {
  section: ProfileSection;
  total: number;
  carried: number;
  replaced: number;
  left_out: number;
}

/** Items of a section with the same outcome for the same reason. */
export interface ProfileNote {
  section: ProfileSection;
  outcome: ProfileOutcome;
  reason: ProfileReason;
  /** A sentence about `reason`, in the language of the request. */
  message: string;
  count: number;
  /** Names or lines of the first of these items. */
  examples: string[];
}

export interface ProfileReport {
  /** Only sections that the profile has. */
  sections: ProfileSectionReport[];
  notes: ProfileNote[];
}

/** A group as it will be, or is, stored. */
export interface ProfileGroupPreview {
  /** The name in the profile. */
  name: string;
  /** The name here; another one if a group outside the profile has that name. */
  stored_as: string;
  type: string;
  /** Members that the profile lists and that exist; filters add to them. */
  listed: number;
}

/** `POST /subscriptions/preview`: what taking a profile would do. Nothing is stored. */
export interface ProfilePreview {
  /** As in `detected_type` of a subscription. */
  format: string;
  nodes: number;
  skipped_nodes: number;
  groups: ProfileGroupPreview[];
  report: ProfileReport;
  /** The subscription whose profile drives the rules now; null if none does. */
  active_subscription_id: number | null;
}

/** A profile that was taken with a subscription. */
export interface ProfileView {
  subscription_id: number;
  name: string;
  /** Its rules, name servers, hosts and sniffing are in force. One profile at most is active. */
  active: boolean;
  taken_at: string;
  updated_at: string;
  groups: number;
  rules: number;
  rule_sets: number;
  /** Further subscriptions that its proxy providers became. */
  providers: number;
  report: ProfileReport;
}

export interface ProfileList {
  items: ProfileView[];
  total: number;
  /** Null: only the rules that were made here are in force. */
  active_subscription_id: number | null;
  /** What was in force before; null where nothing was, which is then what going back restores. */
  previous_subscription_id: number | null;
  /** Whether there is a state to go back to. */
  can_go_back: boolean;
}
