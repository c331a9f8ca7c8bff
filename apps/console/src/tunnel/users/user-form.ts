import type { TunnelUserRole, TunnelUserView } from '@gatehouse/contracts';
import { t } from '../messages/index.js';
import { quotaBody, quotaChanges, quotaFormOf, type QuotaForm } from '../parts/quota-form.js';

export const ROLES: Readonly<Record<TunnelUserRole, { label: string; about: string }>> = {
  admin: { label: t('users.roles.admin'), about: t('users.roleHints.admin') },
  user: { label: t('users.roles.user'), about: t('users.roleHints.user') },
  viewer: { label: t('users.roles.viewer'), about: t('users.roleHints.viewer') },
};

export interface UserForm extends QuotaForm {
  username: string;
  role: TunnelUserRole;
  /** Empty: as before. */
  password: string;
  reset_totp: boolean;
}

export function formOf(user: TunnelUserView | null): UserForm {
  return {
    username: user?.username ?? '',
    role: user?.role ?? 'user',
    password: '',
    reset_totp: false,
    ...quotaFormOf(user),
  };
}

export function toBody(form: UserForm): Record<string, unknown> {
  const { username, role, password } = form;
  return { username: username.trim(), role, password, ...quotaBody(form) };
}

/** What differs from the user as it was read. */
export function changesOf(user: TunnelUserView, form: UserForm): Record<string, unknown> {
  const username = form.username.trim();
  return {
    ...(username !== user.username && { username }),
    ...(form.role !== user.role && { role: form.role }),
    ...(form.password !== '' && { password: form.password }),
    ...(form.reset_totp && { reset_totp: true }),
    ...quotaChanges(user, form),
  };
}
