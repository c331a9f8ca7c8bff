import type { RecoveryCodesView, TotpEnrolmentView } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { FormEnd, TextField } from '../../shared/components/fields.js';
import { useNotify } from '../../shared/components/notices.js';
import { Badge, Card } from '../../shared/components/page.js';
import { Secret } from '../../shared/components/secret.js';
import { useForm } from '../../shared/state/use-form.js';
import { QrCode } from '../../shared/components/qr-code.js';
import { bold } from '../../shared/components/rich-text.js';
import { rich, t } from '../messages/index.js';
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
    <Card title={t('account.twoFactor')}>
      <p>
        {totp ? <Badge tone="good">{t('users.on')}</Badge> : <Badge tone="fair">{t('users.off')}</Badge>}{' '}
        {totp ? t('account.isOn') : t('account.isOff')}
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
        {t('account.setUp')}
      </button>
    );
  }
  return (
    <div class="actions">
      <button type="button" onClick={() => setStep('codes')}>
        {t('account.newCodes')}
      </button>
      <button type="button" class="danger" onClick={() => setStep('end')}>
        {t('account.turnOff')}
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
      <FormEnd error={form.error} busy={form.busy} action={t('account.next')} onCancel={onCancel} />
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
      <p>{t('account.step1')}</p>
      <QrCode text={enrolment.otpauth_uri} label={t('account.qrCode')} />
      <Secret text={enrolment.secret} what={t('account.secretKey')} />
      <p>
        <a href={enrolment.otpauth_uri}>{t('account.openLink')}</a>
      </p>
      <TextField
        label={t('account.step2')}
        autoComplete="one-time-code"
        required
        autofocus
        value={form.values.code}
        problem={form.problem('code')}
        onInput={(code) => form.set('code', code)}
      />
      <FormEnd error={form.error} busy={form.busy} action={t('account.turnOn')} onCancel={onCancel} />
    </form>
  );
}

function RecoveryCodes({ codes, onClose }: { codes: readonly string[]; onClose: () => void }) {
  return (
    <>
      <p role="status">{rich('account.codesTitle', { b: bold })}</p>
      <Secret text={codes.join('\n')} what={t('account.codes')} />
      <button type="button" class="primary" onClick={onClose}>
        {t('account.codesSaved')}
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
    notify(t('account.turnedOff'));
    onDone();
  };
  return (
    <form onSubmit={form.submit(end)}>
      <ProofFields form={form} />
      <FormEnd error={form.error} busy={form.busy} action={t('account.turnOff')} onCancel={onCancel} />
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
      <FormEnd error={form.error} busy={form.busy} action={t('account.createCodes')} onCancel={onCancel} />
    </form>
  );
}
