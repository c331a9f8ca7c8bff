import type { CertificateView, ServiceCheckCode, ServiceCheckStep } from '@gatehouse/contracts';
import type { TargetCheck, TargetCheckState, TunnelState } from '@gatehouse/tunnel-kernel';
import type { Client } from '../data/client.entity.js';

type State = ServiceCheckStep['state'];

const STEPS: Readonly<Record<ServiceCheckCode, [State, string]>> = {
  enabled: ['ok', 'It is enabled.'],
  disabled: ['failed', 'It is disabled.'],
  client_disabled: ['failed', 'Its client is disabled.'],
  client_expired: ['failed', 'Its client has expired.'],
  quota_of_tunnel: ['failed', 'Its traffic quota is used up.'],
  quota_of_client: ['failed', 'The traffic quota of its client is used up.'],
  quota_of_user: ['failed', 'The traffic quota of its user is used up.'],
  agent_online: ['ok', 'The agent is connected.'],
  agent_offline: ['failed', 'No agent of the client is connected.'],
  target_answers: ['ok', 'The target answers.'],
  target_refused: ['failed', 'The target refuses connections: no program listens on its port.'],
  target_timeout: ['failed', 'The target does not answer in time.'],
  target_unreachable: ['failed', 'The agent has no route to the target.'],
  target_name: ['failed', "The target's name is unknown on the agent's machine."],
  target_forbidden: ['failed', 'The agent may not connect to this target.'],
  target_tls: ['failed', 'No TLS connection with the target: its certificate is not trusted, or it has no TLS.'],
  target_no_http: ['failed', 'The target does not answer in HTTP.'],
  target_failed: ['failed', 'The agent could not connect to the target.'],
  target_busy: ['warning', 'All connections to the target are in use.'],
  target_unchecked: ['ok', 'This type has no single target to check.'],
  target_unsupported: ['failed', 'The agent is older than 0.2.0 and cannot map a range of ports. Update it.'],
  target_starting: ['pending', 'The gateway and the agent are loading the configuration.'],
  port_open: ['ok', 'The port is open.'],
  port_starting: ['pending', 'The port is not open yet.'],
  port_failed: ['failed', 'The port cannot be opened.'],
  dns_here: ['ok', 'The domain points to this gateway.'],
  dns_local: ['ok', 'The domain is for this machine only.'],
  dns_elsewhere: ['warning', 'The domain does not point to this gateway.'],
  dns_missing: ['failed', 'The domain has no address in DNS.'],
  dns_unknown: ['warning', 'DNS did not answer.'],
  certificate_valid: ['ok', 'The certificate is valid.'],
  certificate_pending: ['pending', 'The certificate has been ordered.'],
  certificate_failed: ['failed', 'The certificate could not be issued or used.'],
  certificate_expired: ['failed', 'The certificate has expired.'],
  certificate_none: ['ok', 'Without HTTPS: it has no certificate.'],
  access_open: ['ok', 'Everyone may use it.'],
  access_protected: ['ok', 'Visitors must authenticate.'],
  access_rules: ['ok', 'Address rules decide who may use it.'],
};

export function step(code: ServiceCheckCode, detail: string | number | null = null): ServiceCheckStep {
  const [state, message] = STEPS[code];
  return { code, state, message, detail: detail === null ? null : String(detail) };
}

/** Null: it is enabled, with its client. */
export function stepOfRow(status: number, client: Client, now: Date): ServiceCheckStep | null {
  if (status !== 1) return step('disabled');
  if (client.status !== 1) return step('client_disabled');
  if (client.expireAt !== null && client.expireAt <= now) return step('client_expired');
  return null;
}

const OF_TARGET: Readonly<Record<Exclude<TargetCheckState, 'offline'>, ServiceCheckCode>> = {
  answers: 'target_answers',
  refused: 'target_refused',
  timeout: 'target_timeout',
  unreachable: 'target_unreachable',
  name: 'target_name',
  forbidden: 'target_forbidden',
  other: 'target_failed',
  tls: 'target_tls',
  no_http: 'target_no_http',
  overloaded: 'target_busy',
  unchecked: 'target_unchecked',
  unsupported: 'target_unsupported',
  starting: 'target_starting',
};

/** Agent and target. */
export function stepsOfTarget({ state, status }: TargetCheck): ServiceCheckStep[] {
  if (state === 'offline') return [step('agent_offline')];
  return [step('agent_online'), step(OF_TARGET[state], status)];
}

/** Null where the mode has no port. */
export function stepOfPort(state: TunnelState | undefined): ServiceCheckStep {
  if (state?.state === 'error') return step('port_failed', state.error);
  if (state === undefined || state.port === 0) return step('port_starting');
  const { port, lastPort = port } = state;
  return step('port_open', lastPort === port ? port : `${port}-${lastPort}`);
}

/** `certificate` null: the host neither has one nor should get one. */
export function stepOfCertificate(certificate: CertificateView | null): ServiceCheckStep {
  switch (certificate?.status) {
    case undefined:
      return step('certificate_none');
    case 'valid':
    case 'expiring':
      return step('certificate_valid', certificate?.not_after);
    case 'pending':
      return certificate?.last_error ? step('certificate_failed', certificate.last_error) : step('certificate_pending');
    case 'expired':
      return step('certificate_expired', certificate?.not_after);
    case 'failed':
    case 'unusable':
      return step('certificate_failed', certificate?.last_error);
  }
}
