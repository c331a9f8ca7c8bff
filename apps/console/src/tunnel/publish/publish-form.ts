import type { TunnelModeName } from '@gatehouse/contracts';
import { splitLines } from '../../shared/format/links.js';
import type { CertificateForm } from '../certificates/certificate-form.js';
import { numberOr } from '../clients/client-form.js';
import { formOf as hostFormOf, toBody as hostBody } from '../hosts/host-form.js';
import { toBody as policyBody, type PolicyForm } from '../policies/policy-form.js';
import { kindOf } from '../rules/rule-form.js';
import { formOf as tunnelFormOf, toBody as tunnelBody } from '../tunnels/tunnel-form.js';
import type { PublishPlan } from './publication.js';

export const PUBLISH_KINDS = ['web', 'tcp', 'udp', 'private', 'file', 'proxy'] as const;
export type PublishKind = (typeof PUBLISH_KINDS)[number];

export type Https = 'automatic' | 'own' | 'none';
export type ProxyMode = 'mix_proxy' | 'http_proxy' | 'socks5';
export type Access = 'everyone' | 'password' | 'basic' | 'oauth';

/** What is published, where it runs, and its address. Fields are named as in the API, so that refusals find them. */
export interface ServiceForm {
  kind: PublishKind;
  client_id: string;
  target_addr: string;
  host: string;
  location: string;
  /** Null: what fits the domain. */
  https: Https | null;
  /** Stands for `https` in what the service refuses. */
  auto_https: null;
  name: string;
  listen_port: string;
  mode: ProxyMode;
  /** Of private services: visitor and agent connect directly where they can. */
  direct: boolean;
}

/** Which visitors' addresses may connect. */
export interface RestrictionForm {
  action: 'none' | 'allow' | 'deny';
  countries: readonly string[];
  /** Addresses and networks, one per line; refusals of the API name it so. */
  pattern: string;
}

/** Of the client; empty: unchanged. */
export interface LimitsForm {
  rate_limit: string;
  max_conn: string;
  /** As a `datetime-local` field has it. */
  expire_at: string;
}

export interface PublishForms {
  service: ServiceForm;
  certificate: CertificateForm;
  access: Access;
  policy: PolicyForm;
  restriction: RestrictionForm;
  limits: LimitsForm;
}

export function serviceFormOf(query: Readonly<Record<string, string>>, automaticHttps: boolean): ServiceForm {
  const kind = PUBLISH_KINDS.find((name) => name === query['kind']) ?? 'web';
  return {
    kind,
    client_id: query['client_id'] ?? '',
    target_addr: '',
    host: '',
    location: '/',
    https: automaticHttps ? null : 'none',
    auto_https: null,
    name: '',
    listen_port: '',
    mode: 'mix_proxy',
    direct: false,
  };
}

/** Ways of access that work for a kind (docs/tunnel-verification.md); the first is the usual one. */
export const ACCESS_OF: Readonly<Record<PublishKind, readonly [Access, ...Access[]]>> = {
  web: ['everyone', 'password', 'basic', 'oauth'],
  tcp: ['everyone', 'password', 'oauth'],
  udp: ['everyone', 'password', 'oauth'],
  private: ['everyone'],
  file: ['everyone', 'password', 'oauth'],
  // Without a login, anybody could use it to reach the agent's network.
  proxy: ['basic', 'password', 'oauth', 'everyone'],
};

/** What was chosen, or else what fits: authorities issue no certificates for local names, and none for patterns this way. */
export function httpsOf({ https, host }: Pick<ServiceForm, 'https' | 'host'>): Https {
  if (https !== null) return https;
  const name = host.trim().toLowerCase();
  const isPublic =
    name === '' || (name.includes('.') && !/^\*|(^|\.)(localhost|local|test|internal)$|^[\d.]+$/.test(name));
  return isPublic ? 'automatic' : 'none';
}

export function modeOf({ kind, mode, direct }: Pick<ServiceForm, 'kind' | 'mode' | 'direct'>): TunnelModeName {
  if (kind === 'proxy') return mode;
  if (kind === 'private') return direct ? 'p2p' : 'secret';
  return kind === 'web' ? 'tcp' : kind;
}

/** `3000`, `6000-6010` and `127.0.0.1:3000` are enough for what runs beside the agent. */
export function targetOf({ kind, target_addr: typed }: Pick<ServiceForm, 'kind' | 'target_addr'>): string {
  const text = typed.trim();
  if (kind === 'file') return text.startsWith('/') ? `file://${text}?ro=1` : text;
  if (kind === 'proxy') return text;
  const target = /^\d{1,5}(-\d{1,5})?$/.test(text) ? `127.0.0.1:${text}` : text;
  return kind !== 'web' || target === '' || target.includes('://') ? target : `http://${target}`;
}

/** What to do with what was typed, in the words of the API. */
export function toPlan(forms: PublishForms): PublishPlan {
  const { service, certificate, access, policy, restriction, limits } = forms;
  const isOwnCertificate = service.kind === 'web' && httpsOf(service) === 'own';
  return {
    service: serviceOf(service),
    certificate: isOwnCertificate ? { ...certificate } : null,
    policy: access === 'everyone' || service.kind === 'private' ? null : policyOf({ ...policy, type: access }),
    rules: restriction.action === 'none' ? [] : rulesOf(restriction, restriction.action),
    limits: limitsOf(limits),
    clientId: numberOr(service.client_id, 0),
  };
}

function serviceOf(form: ServiceForm): PublishPlan['service'] {
  const target = targetOf(form);
  if (form.kind !== 'web') {
    const { client_id, name, listen_port } = form;
    const tunnel = { ...tunnelFormOf(null, client_id), name, listen_port, mode: modeOf(form), target_addr: target };
    return { kind: 'tunnel', body: tunnelBody(tunnel) };
  }
  const https = httpsOf(form);
  const host = {
    ...hostFormOf(null, form.client_id),
    host: form.host.trim(),
    location: form.location,
    target_addr: target,
    scheme: https === 'none' ? ('http' as const) : ('all' as const),
    auto_https: https === 'automatic',
  };
  return { kind: 'host', body: hostBody(host) };
}

function policyOf(form: PolicyForm): Record<string, unknown> {
  const { resource_type: _type, resource_id: _id, ...body } = policyBody(form);
  return body;
}

function rulesOf({ countries, pattern }: RestrictionForm, type: 'allow' | 'deny'): PublishPlan['rules'] {
  const codes = countries.map((code) => ({ type, pattern: code, pattern_kind: 'country' as const }));
  // What is no kind of pattern goes as an address, which the service refuses in its own words.
  const typed = splitLines(pattern).map((line) => ({ type, pattern: line, pattern_kind: kindOf(line) ?? 'exact' }));
  return [...codes, ...typed];
}

function limitsOf({ rate_limit, max_conn, expire_at }: LimitsForm): Record<string, unknown> | null {
  const until = new Date(expire_at);
  const changes = {
    ...(rate_limit.trim() !== '' && { rate_limit: numberOr(rate_limit, 0) }),
    ...(max_conn.trim() !== '' && { max_conn: numberOr(max_conn, 0) }),
    ...(!Number.isNaN(until.getTime()) && { expire_at: until.toISOString() }),
  };
  return Object.keys(changes).length === 0 ? null : changes;
}
