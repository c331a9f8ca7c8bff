/** The result of one step of a check. `detail` of the step has the particulars. */
export type ServiceCheckCode =
  | 'enabled'
  | 'disabled'
  | 'client_disabled'
  | 'client_expired'
  | 'quota_of_tunnel'
  | 'quota_of_client'
  | 'quota_of_user'
  | 'agent_online'
  | 'agent_offline'
  /** `detail`: the status of an HTTP answer. */
  | 'target_answers'
  | 'target_refused'
  | 'target_timeout'
  | 'target_unreachable'
  | 'target_name'
  | 'target_forbidden'
  | 'target_tls'
  | 'target_no_http'
  | 'target_failed'
  | 'target_busy'
  | 'target_unchecked'
  /** The agent is too old for a range of ports with ports of their own at the target. */
  | 'target_unsupported'
  | 'target_starting'
  | 'port_open'
  | 'port_starting'
  /** `detail`: why the port cannot be bound. */
  | 'port_failed'
  | 'dns_here'
  | 'dns_local'
  /** `detail`: the public addresses of the name. */
  | 'dns_elsewhere'
  | 'dns_missing'
  | 'dns_unknown'
  | 'certificate_valid'
  | 'certificate_pending'
  /** `detail`: why the last order failed, or why the files cannot be used. */
  | 'certificate_failed'
  | 'certificate_expired'
  | 'certificate_none'
  | 'access_open'
  /** `detail`: the types of the policies. */
  | 'access_protected'
  /** `detail`: the number of address rules. */
  | 'access_rules';

export interface ServiceCheckStep {
  code: ServiceCheckCode;
  /** `pending`: check again soon. `warning`: visitors may still get an answer. */
  state: 'ok' | 'warning' | 'pending' | 'failed';
  message: string;
  detail: string | null;
}

/** Whether visitors of a host or tunnel get an answer, and what is wrong if they do not. */
export interface ServiceCheckView {
  /** No step failed or is pending. */
  answers: boolean;
  /** In order, from the configuration to the visitor. After `disabled` or `agent_offline` the target is not tried. */
  steps: ServiceCheckStep[];
  /** Of a tunnel with several ports: the one whose target was tried. Null: it has one port, or no target was tried. */
  port: number | null;
  /** @format date-time */
  checked_at: string;
}
