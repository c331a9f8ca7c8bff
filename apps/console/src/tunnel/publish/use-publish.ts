import { useRef, useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { messageOf } from '../../shared/api/api-error.js';
import { useForm, type Form } from '../../shared/state/use-form.js';
import type { CertificateForm } from '../certificates/certificate-form.js';
import { useGateway } from '../parts/gateway-context.js';
import { formOf as policyFormOf, type PolicyForm } from '../policies/policy-form.js';
import {
  Publication,
  PublishStepError,
  type PublishedService,
  type PublishPlan,
  type PublishStep,
} from './publication.js';
import {
  ACCESS_OF,
  serviceFormOf,
  toPlan,
  type Access,
  type LimitsForm,
  type PublishForms,
  type RestrictionForm,
  type ServiceForm,
} from './publish-form.js';

/** How far it has come. */
export interface PublishProgress {
  running: PublishStep | null;
  failed: PublishStep | null;
  /** Why that step failed. */
  error: string | null;
}

export interface Publishing {
  service: Form<ServiceForm>;
  certificate: Form<CertificateForm>;
  access: Access;
  setAccess: (access: Access) => void;
  setKind: (kind: ServiceForm['kind']) => void;
  policy: Form<PolicyForm>;
  restriction: Form<RestrictionForm>;
  limits: Form<LimitsForm>;
  progress: PublishProgress;
  publication: Publication;
  plan: () => PublishPlan;
  /** Runs what is not done yet; null: a step failed, and `progress` and the forms say why. */
  publish: () => Promise<PublishedService | null>;
  /** Removes what was saved. */
  undo: () => Promise<void>;
}

const IDLE: PublishProgress = { running: null, failed: null, error: null };

/** The forms of a service, and what becomes of them. */
export function usePublish(query: Readonly<Record<string, string>>): Publishing {
  const api = useApi();
  const kept = useRef<Publication | null>(null);
  kept.current ??= new Publication(api);
  const publication = kept.current;
  const forms = usePublishForms(query);
  const [progress, setProgress] = useState(IDLE);
  const plan = (): PublishPlan => toPlan(valuesOf(forms));
  const publish = async (): Promise<PublishedService | null> => {
    const formOf = formsByStep(forms);
    for (const form of Object.values(formOf)) form.clear();
    try {
      return await publication.run(plan(), (running) => setProgress({ ...IDLE, running }));
    } catch (thrown) {
      if (!(thrown instanceof PublishStepError)) throw thrown;
      formOf[thrown.step].fail(thrown.cause);
      // The name of a field is of no use away from it.
      const error = messageOf(thrown.cause).replace(/^[a-z_]+: /, '');
      setProgress({ running: null, failed: thrown.step, error });
      return null;
    }
  };
  const undo = async (): Promise<void> => {
    await publication.undo();
    setProgress(IDLE);
  };
  return { ...forms, progress, publication, plan, publish, undo };
}

type Forms = Omit<Publishing, 'progress' | 'publication' | 'plan' | 'publish' | 'undo'>;

function usePublishForms(query: Readonly<Record<string, string>>): Forms {
  const service = useForm(serviceFormOf(query, useGateway().automatic_https));
  const certificate = useForm<CertificateForm>({ certificate: '', key: '' });
  const [access, setAccess] = useState<Access>(ACCESS_OF[service.values.kind][0]);
  const policy = useForm<PolicyForm>({ ...policyFormOf(null), ...(access !== 'everyone' && { type: access }) });
  const restriction = useForm<RestrictionForm>({ action: 'none', countries: [], pattern: '' });
  const limits = useForm<LimitsForm>({ rate_limit: '', max_conn: '', expire_at: '' });
  const choose = (next: Access): void => {
    setAccess(next);
    if (next !== 'everyone') policy.set('type', next);
  };
  const setKind = (kind: ServiceForm['kind']): void => {
    service.set('kind', kind);
    // A proxy should not be open to everyone only because the kind before it was.
    choose(ACCESS_OF[kind].includes(access) && kind !== 'proxy' ? access : ACCESS_OF[kind][0]);
  };
  return { service, certificate, access, setAccess: choose, setKind, policy, restriction, limits };
}

/** Where the refusals of a step belong. */
function formsByStep({
  service,
  certificate,
  policy,
  restriction,
  limits,
}: Forms): Readonly<Record<PublishStep, Pick<Form<object>, 'fail' | 'clear'>>> {
  return { service, certificate, policy, rules: restriction, limits, open: service };
}

function valuesOf({ service, certificate, access, policy, restriction, limits }: Forms): PublishForms {
  return {
    access,
    service: service.values,
    certificate: certificate.values,
    policy: policy.values,
    restriction: restriction.values,
    limits: limits.values,
  };
}
