import type { TunnelLoginView } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { ApiError } from '../../shared/api/api-error.js';
import type { Session } from '../../shared/api/session.js';
import { FormEnd, TextField } from '../../shared/components/fields.js';
import { LoginFrame } from '../../shared/frame/login-frame.js';
import { useForm } from '../../shared/state/use-form.js';
import { t } from '../messages/index.js';

interface SetupForm {
  token: string;
  username: string;
  password: string;
  again: string;
}

const EMPTY: SetupForm = { token: '', username: '', password: '', again: '' };

/** Creates the first administrator; the user must be able to read the service's files. */
export function FirstSetup({ session }: { session: Session }) {
  const api = useApi();
  const form = useForm<SetupForm>(EMPTY);
  const setUp = async ({ again, ...body }: SetupForm): Promise<void> => {
    if (body.password !== again) {
      const details = [{ field: 'again', message: t('login.differs') }];
      throw new ApiError(t('login.passwordsDiffer'), { status: 0, code: 'LOCAL', details });
    }
    session.signIn((await api.post<TunnelLoginView>('/auth/setup', { ...body, token: body.token.trim() })).token);
  };
  const field = (name: keyof SetupForm) => ({
    required: true,
    value: form.values[name],
    problem: form.problem(name),
    onInput: (value: string) => form.set(name, value),
  });
  return (
    <LoginFrame product={t('app.product')} onSubmit={form.submit(setUp)}>
      <h1>{t('login.welcome')}</h1>
      <p>{t('login.setupIntro')}</p>
      <TextField
        label={t('login.setupToken')}
        hint={t('login.setupTokenHint')}
        autofocus
        autoComplete="off"
        {...field('token')}
      />
      <TextField label={t('signIn.username')} autoComplete="username" {...field('username')} />
      <TextField
        label={t('signIn.password')}
        hint={t('login.passwordHint')}
        type="password"
        autoComplete="new-password"
        {...field('password')}
      />
      <TextField label={t('login.repeatPassword')} type="password" autoComplete="new-password" {...field('again')} />
      <FormEnd error={form.error} busy={form.busy} action={t('login.create')} />
    </LoginFrame>
  );
}
