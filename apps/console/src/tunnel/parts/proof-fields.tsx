import { TextField } from '../../shared/components/fields.js';
import type { Form } from '../../shared/state/use-form.js';
import { t } from '../messages/index.js';
import { useUser } from '../user-context.js';

/** That it is really the user who asks: a browser that was left open is not enough. */
export interface Proof {
  current_password: string;
  code: string;
}

export const NO_PROOF: Proof = { current_password: '', code: '' };

export function proofOf({ current_password, code }: Proof): Record<string, string> {
  return { current_password, ...(code.trim() !== '' && { code: code.replaceAll(/\s/g, '') }) };
}

export function ProofFields<T extends Proof>({ form }: { form: Form<T> }) {
  const { totp } = useUser();
  const proof = form as unknown as Form<Proof>;
  return (
    <div class="form-row">
      <TextField
        label={t('words.yourPassword')}
        type="password"
        autoComplete="current-password"
        required
        value={proof.values.current_password}
        problem={proof.problem('current_password')}
        onInput={(password) => proof.set('current_password', password)}
      />
      {totp && (
        <TextField
          label={t('login.code')}
          autoComplete="one-time-code"
          required
          value={proof.values.code}
          problem={proof.problem('code')}
          onInput={(code) => proof.set('code', code)}
        />
      )}
    </div>
  );
}
