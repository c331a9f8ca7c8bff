import type { AuthPolicyView } from '@gatehouse/contracts';
import { splitLines, splitWords } from '../../shared/format/links.js';
import { numberOr } from '../clients/client-form.js';
import { t } from '../messages/index.js';

export interface PolicyForm {
  resource_type: AuthPolicyView['resource_type'];
  resource_id: string;
  type: AuthPolicyView['type'];
  password: string;
  /** `name:password` lines; empty: as before. */
  users: string;
  callback_url: string;
  copy_headers: string;
  allow_private: boolean;
  ttl_seconds: string;
  issuer: string;
  server: 'standard' | 'resource_sharing';
  client_id: string;
  client_secret: string;
  scope: string;
  /** Who may come in, a line each; empty: everybody who can sign in. */
  subjects: string;
  names: string;
  emails: string;
  /** Stands for all of the sign-in in what the service refuses. */
  oauth: null;
}

export const POLICY_TYPES: Readonly<Record<AuthPolicyView['type'], { label: string; about: string }>> = {
  password: { label: t('policies.types.password'), about: t('policies.typeHints.password') },
  basic: { label: t('policies.types.basic'), about: t('policies.typeHints.basic') },
  callback: { label: t('policies.types.callback'), about: t('policies.typeHints.callback') },
  oauth: { label: t('policies.types.oauth'), about: t('policies.typeHints.oauth') },
};

export function formOf(policy: AuthPolicyView | null): PolicyForm {
  const oauth = policy?.oauth;
  return {
    resource_type: policy?.resource_type ?? 'host',
    resource_id: policy === null ? '' : String(policy.resource_id),
    type: policy?.type ?? 'password',
    password: '',
    users: '',
    callback_url: policy?.callback_url ?? '',
    copy_headers: policy?.copy_headers.join(', ') ?? '',
    allow_private: policy?.allow_private ?? false,
    ttl_seconds: String(policy?.ttl_seconds ?? 7_200),
    issuer: oauth?.issuer ?? '',
    server: oauth?.server ?? 'standard',
    client_id: oauth?.client_id ?? '',
    client_secret: '',
    scope: oauth?.scope ?? '',
    subjects: oauth?.subjects.join('\n') ?? '',
    names: oauth?.names.join('\n') ?? '',
    emails: oauth?.emails.join('\n') ?? '',
    oauth: null,
  };
}

/** What the type has; secrets only where something was typed. */
export function toChanges(form: PolicyForm, before: AuthPolicyView | null): Record<string, unknown> {
  return { ...fieldsOf(form, before), ttl_seconds: numberOr(form.ttl_seconds, 0) };
}

export function toBody(form: PolicyForm): Record<string, unknown> {
  const { resource_type: kind, resource_id: id, type } = form;
  return { resource_type: kind, resource_id: numberOr(id, 0), type, ...toChanges(form, null) };
}

function fieldsOf(form: PolicyForm, before: AuthPolicyView | null): Record<string, unknown> {
  switch (form.type) {
    case 'password':
      return form.password === '' ? {} : { password: form.password };
    case 'basic':
      return form.users.trim() === '' ? {} : { users: usersOf(form.users) };
    case 'callback':
      return {
        callback_url: form.callback_url.trim(),
        copy_headers: splitWords(form.copy_headers),
        ...privateOf(form, before),
      };
    case 'oauth':
      return { oauth: oauthOf(form, before), ...privateOf(form, before) };
  }
}

/** Administrators alone may say it, so it is said where it differs. */
function privateOf(form: PolicyForm, before: AuthPolicyView | null): Record<string, unknown> {
  return form.allow_private === (before?.allow_private ?? false) ? {} : { allow_private: form.allow_private };
}

/** The service wants the whole registration; what the form does not show stays as it was. */
function oauthOf(form: PolicyForm, before: AuthPolicyView | null): Record<string, unknown> {
  const { has_client_secret: _had, ...kept } = before?.oauth ?? { has_client_secret: false };
  const known = Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== null));
  const { scope: _before, ...rest } = known;
  return {
    ...rest,
    issuer: form.issuer.trim(),
    server: form.server,
    client_id: form.client_id.trim(),
    ...(form.client_secret !== '' && { client_secret: form.client_secret }),
    ...(form.scope.trim() !== '' && { scope: form.scope.trim() }),
    subjects: splitLines(form.subjects),
    names: splitLines(form.names),
    emails: splitLines(form.emails),
  };
}

/** `name:password` lines; a line without a colon has an empty password, which the service refuses in its own words. */
export function usersOf(text: string): { username: string; password: string }[] {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const at = line.indexOf(':');
      return at < 0
        ? { username: line.trim(), password: '' }
        : { username: line.slice(0, at).trim(), password: line.slice(at + 1) };
    });
}
