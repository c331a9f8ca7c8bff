import type { RecoveryCodesView, TotpEnrolmentView } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { FormEnd, TextField } from '../../shared/components/fields.js';
import { useNotify } from '../../shared/components/notices.js';
import { Badge, Card } from '../../shared/components/page.js';
import { Secret } from '../../shared/components/secret.js';
import { useForm } from '../../shared/state/use-form.js';
import { NO_PROOF, ProofFields, proofOf, type Proof } from '../parts/proof-fields.js';
import { useReloadUser, useUser } from '../user-context.js';

type Step = 'none' | 'begin' | 'end' | 'codes' | { enrolment: TotpEnrolmentView } | { recovery: readonly string[] };

/** Codes of an authenticator beside the password. */
export function SecondFactor() {
  const { totp } = useUser();
  const [step, setStep] = useState<Step>('none');
  const reloadUser = useReloadUser();
  const done = (next: Step = 'none'): void => {
    setStep(next);
    reloadUser();
  };
  return (
    <Card title="Second factor">
      <p>
        {totp ? <Badge tone="good">on</Badge> : <Badge tone="fair">off</Badge>}{' '}
        {totp
          ? 'Logins need a code of your authenticator.'
          : 'With an authenticator app, a stolen password is not enough to sign in.'}
      </p>
      {step === 'none' && <Choices totp={totp} setStep={setStep} />}
      {step === 'begin' && <Begin onBegun={(enrolment) => setStep({ enrolment })} onCancel={() => setStep('none')} />}
      {step === 'end' && <End onDone={() => done()} onCancel={() => setStep('none')} />}
      {step === 'codes' && <NewCodes onMade={(recovery) => setStep({ recovery })} onCancel={() => setStep('none')} />}
      {typeof step === 'object' && 'enrolment' in step && (
        <Confirm
          enrolment={step.enrolment}
          onDone={(recovery) => done({ recovery })}
          onCancel={() => setStep('none')}
        />
      )}
      {typeof step === 'object' && 'recovery' in step && (
        <RecoveryCodes codes={step.recovery} onClose={() => setStep('none')} />
      )}
    </Card>
  );
}

function Choices({ totp, setStep }: { totp: boolean; setStep: (step: Step) => void }) {
  if (!totp) {
    return (
      <button type="button" class="primary" onClick={() => setStep('begin')}>
        Set it up
      </button>
    );
  }
  return (
    <div class="actions">
      <button type="button" onClick={() => setStep('codes')}>
        New recovery codes
      </button>
      <button type="button" class="danger" onClick={() => setStep('end')}>
        Switch it off
      </button>
    </div>
  );
}

interface StepProps {
  onCancel: () => void;
}

function Begin({ onBegun, onCancel }: StepProps & { onBegun: (enrolment: TotpEnrolmentView) => void }) {
  const api = useApi();
  const form = useForm<Proof>(NO_PROOF);
  const begin = async (proof: Proof): Promise<void> =>
    onBegun(await api.post<TotpEnrolmentView>('/auth/totp', proofOf(proof)));
  return (
    <form onSubmit={form.submit(begin)}>
      <ProofFields form={form} />
      <FormEnd error={form.error} busy={form.busy} action="Go on" onCancel={onCancel} />
    </form>
  );
}

interface ConfirmProps extends StepProps {
  enrolment: TotpEnrolmentView;
  onDone: (recovery: readonly string[]) => void;
}

function Confirm({ enrolment, onDone, onCancel }: ConfirmProps) {
  const api = useApi();
  const form = useForm({ code: '' });
  const confirm = async ({ code }: { code: string }): Promise<void> => {
    const body = { code: code.replaceAll(/\s/g, '') };
    onDone((await api.post<RecoveryCodesView>('/auth/totp/confirm', body)).recovery_codes);
  };
  return (
    <form onSubmit={form.submit(confirm)}>
      <p>
        1. In the authenticator app choose to add an account by a key (not by a picture), and give it this one; or on
        the device with the app, open the link.
      </p>
      <Secret text={enrolment.secret} what="Key of the authenticator" />
      <p>
        <a href={enrolment.otpauth_uri}>Open in an authenticator on this device</a>
      </p>
      <TextField
        label="2. The code that it shows now"
        autoComplete="one-time-code"
        required
        autofocus
        value={form.values.code}
        problem={form.problem('code')}
        onInput={(code) => form.set('code', code)}
      />
      <FormEnd error={form.error} busy={form.busy} action="Switch it on" onCancel={onCancel} />
    </form>
  );
}

function RecoveryCodes({ codes, onClose }: { codes: readonly string[]; onClose: () => void }) {
  return (
    <>
      <p role="status">
        <strong>Keep these recovery codes now: they are shown this once.</strong> Each stands for one code of the
        authenticator, for the day that it is lost.
      </p>
      <Secret text={codes.join('\n')} what="Recovery codes" />
      <button type="button" class="primary" onClick={onClose}>
        I have kept them
      </button>
    </>
  );
}

function End({ onDone, onCancel }: StepProps & { onDone: () => void }) {
  const api = useApi();
  const notify = useNotify();
  const form = useForm<Proof>(NO_PROOF);
  const end = async (proof: Proof): Promise<void> => {
    await api.post('/auth/totp/disable', proofOf(proof));
    notify('Logins need the password alone from now on.');
    onDone();
  };
  return (
    <form onSubmit={form.submit(end)}>
      <ProofFields form={form} />
      <FormEnd error={form.error} busy={form.busy} action="Switch it off" onCancel={onCancel} />
    </form>
  );
}

function NewCodes({ onMade, onCancel }: StepProps & { onMade: (codes: readonly string[]) => void }) {
  const api = useApi();
  const form = useForm<Proof>(NO_PROOF);
  const make = async (proof: Proof): Promise<void> => {
    onMade((await api.post<RecoveryCodesView>('/auth/totp/recovery-codes', proofOf(proof))).recovery_codes);
  };
  return (
    <form onSubmit={form.submit(make)}>
      <ProofFields form={form} />
      <FormEnd error={form.error} busy={form.busy} action="Make new codes" onCancel={onCancel} />
    </form>
  );
}
