import type { HostHealthCheck, HostView } from '@gatehouse/contracts';
import { numberOr } from '../clients/client-form.js';

export interface HostForm {
  client_id: string;
  host: string;
  location: string;
  strict_path: boolean;
  rewrite_path: string;
  sticky: boolean;
  compress: boolean;
  /** Shown in MiB. */
  max_body_bytes: string;
  error_page: string;
  scheme: HostView['scheme'];
  target_addr: string;
  health_check: HealthForm;
  /** Empty: no redirect. */
  redirect: { to: string; status: string; keep_path: boolean };
  auto_https: boolean;
  rewrite_host: string;
  /** `Name: value` lines; nothing after the colon takes the field away. */
  request_headers: string;
  response_headers: string;
}

/** Numbers as they are typed. */
export interface HealthForm {
  type: '' | HostHealthCheck['type'];
  path: string;
  expected_status: string;
  interval_seconds: string;
  timeout_seconds: string;
  healthy_threshold: string;
  unhealthy_threshold: string;
}

const MIB = 1024 * 1024;

/** What is no number goes to the service, which refuses it in its own words. */
function bytesOf(mebibytes: string): number | string {
  const text = mebibytes.trim();
  if (text === '') return 0;
  return /^\d+(\.\d+)?$/.test(text) ? Math.round(Number(text) * MIB) : text;
}

export function formOf(host: HostView | null, clientId = ''): HostForm {
  return {
    client_id: host === null ? clientId : String(host.client_id),
    host: host?.host ?? '',
    location: host?.location ?? '/',
    strict_path: host?.strict_path ?? false,
    rewrite_path: host?.rewrite_path ?? '',
    sticky: host?.sticky ?? false,
    compress: host?.compress ?? false,
    max_body_bytes: host?.max_body_bytes ? String(host.max_body_bytes / MIB) : '',
    error_page: host?.error_page ?? '',
    scheme: host?.scheme ?? 'all',
    target_addr: host?.target_addr ?? '',
    health_check: healthOf(host?.health_check ?? null),
    redirect: {
      to: host?.redirect?.to ?? '',
      status: String(host?.redirect?.status ?? 302),
      keep_path: host?.redirect?.keep_path ?? true,
    },
    auto_https: host?.auto_https === 1,
    rewrite_host: host?.rewrite_host ?? '',
    request_headers: toLines(host?.request_headers ?? {}),
    response_headers: toLines(host?.response_headers ?? {}),
  };
}

function toRedirect({ to, status, keep_path }: HostForm['redirect']): Record<string, unknown> | null {
  return to.trim() === '' ? null : { to: to.trim(), status: Number(status), keep_path };
}

function healthOf(check: HostHealthCheck | null): HealthForm {
  return {
    type: check?.type ?? '',
    path: check?.path ?? '/',
    expected_status: check?.expected_status ?? '200-399',
    interval_seconds: String(check?.interval_seconds ?? 10),
    timeout_seconds: String(check?.timeout_seconds ?? 5),
    healthy_threshold: String(check?.healthy_threshold ?? 2),
    unhealthy_threshold: String(check?.unhealthy_threshold ?? 3),
  };
}

function toHealthCheck(form: HealthForm): Record<string, unknown> | null {
  if (form.type === '') return null;
  return {
    type: form.type,
    path: form.path.trim() === '' ? '/' : form.path.trim(),
    expected_status: form.expected_status.trim(),
    interval_seconds: numberOr(form.interval_seconds, 10),
    timeout_seconds: numberOr(form.timeout_seconds, 5),
    healthy_threshold: numberOr(form.healthy_threshold, 2),
    unhealthy_threshold: numberOr(form.unhealthy_threshold, 3),
  };
}

export function toBody(form: HostForm): Record<string, unknown> {
  return {
    client_id: numberOr(form.client_id, 0),
    host: form.host,
    location: form.location.trim() === '' ? '/' : form.location,
    strict_path: form.strict_path,
    rewrite_path: form.rewrite_path.trim() === '' ? null : form.rewrite_path.trim(),
    sticky: form.sticky,
    compress: form.compress,
    max_body_bytes: bytesOf(form.max_body_bytes),
    error_page: form.error_page.trim() === '' ? null : form.error_page,
    scheme: form.scheme,
    target_addr: form.target_addr,
    health_check: toHealthCheck(form.health_check),
    redirect: toRedirect(form.redirect),
    auto_https: form.auto_https ? 1 : 0,
    rewrite_host: form.rewrite_host.trim() === '' ? null : form.rewrite_host.trim(),
    request_headers: fromLines(form.request_headers),
    response_headers: fromLines(form.response_headers),
  };
}

/** What differs from the host as it was read; its client stays. */
export function changesOf(host: HostView, form: HostForm): Record<string, unknown> {
  const before = toBody(formOf(host));
  const { client_id: _stays, ...after } = toBody(form);
  const differs = ([name, value]: [string, unknown]): boolean => JSON.stringify(value) !== JSON.stringify(before[name]);
  return Object.fromEntries(Object.entries(after).filter(differs));
}

export function toLines(fields: Readonly<Record<string, string>>): string {
  return Object.entries(fields)
    .map(([name, value]) => `${name}: ${value}`.trimEnd())
    .join('\n');
}

/** A line without a colon becomes a field of that whole name, which the service refuses in its own words. */
export function fromLines(text: string): Record<string, string> {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return Object.fromEntries(
    lines.map((line) => {
      const [name = '', ...rest] = line.split(':');
      return rest.length === 0 ? [line.trim(), ''] : [name.trim(), rest.join(':').trim()];
    }),
  );
}
