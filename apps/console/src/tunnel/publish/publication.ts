import type { HostView, IpRuleView, NewTunnelView, TunnelClientView } from '@gatehouse/contracts';
import type { ApiClient } from '../../shared/api/api-client.js';

export interface PublishRule {
  type: 'allow' | 'deny';
  pattern: string;
  pattern_kind: IpRuleView['pattern_kind'];
}

/** What is to be saved; bodies as the API takes them, without the id that the service gets. */
export interface PublishPlan {
  service: { kind: 'host' | 'tunnel'; body: Record<string, unknown> };
  certificate: { certificate: string; key: string } | null;
  policy: Record<string, unknown> | null;
  rules: readonly PublishRule[];
  /** Changes of the client. */
  limits: Record<string, unknown> | null;
  clientId: number | string;
}

/** In this order: what protects a service is there before the service is open. */
export const PUBLISH_STEPS = ['service', 'certificate', 'policy', 'rules', 'limits', 'open'] as const;
export type PublishStep = (typeof PUBLISH_STEPS)[number];

export type PublishedService = { kind: 'host'; row: HostView } | { kind: 'tunnel'; row: NewTunnelView };

type Api = Pick<ApiClient, 'get' | 'post' | 'patch' | 'delete'>;

/** A step failed; those before it are done. `cause`: what the service said. */
export class PublishStepError extends Error {
  readonly step: PublishStep;

  constructor(step: PublishStep, cause: unknown) {
    super(`the step ${step} failed`, { cause });
    this.name = 'PublishStepError';
    this.step = step;
  }
}

/** The steps of a plan. A service that nothing protects or limits needs only one. */
export function stepsOf({ certificate, policy, rules, limits }: PublishPlan): PublishStep[] {
  const extra: Partial<Record<PublishStep, boolean>> = {
    certificate: certificate !== null,
    policy: policy !== null,
    rules: rules.length > 0,
    limits: limits !== null,
  };
  const needed = PUBLISH_STEPS.filter((step) => extra[step]);
  return needed.length === 0 ? ['service'] : ['service', ...needed, 'open'];
}

/**
 * One service on its way to its visitors. It is disabled until everything that protects it is saved. After a failure, `run`
 * goes on with the step that failed, and `undo` removes what was saved.
 */
export class Publication {
  readonly #api: Api;
  readonly #done = new Set<PublishStep>();
  readonly #rules = new Map<string, number>();
  #service: PublishedService | null = null;
  #limitsBefore: { id: number; values: Record<string, unknown> } | null = null;

  constructor(api: Api) {
    this.#api = api;
  }

  /** Null before the first step is done, and after `undo`. */
  get service(): PublishedService | null {
    return this.#service;
  }

  has(step: PublishStep): boolean {
    return this.#done.has(step);
  }

  /**
   * @param onStep is called before each step
   * @throws PublishStepError
   */
  async run(plan: PublishPlan, onStep: (step: PublishStep) => void): Promise<PublishedService> {
    const wanted = new Set<PublishStep>(stepsOf(plan));
    const isGuarded = wanted.size > 1;
    // Another attempt may want less than the one before: what that one left is cleared up, and the service is opened.
    if (this.#service?.row.status === 0) wanted.add('open');
    if (this.#rules.size > 0) wanted.add('rules');
    for (const step of PUBLISH_STEPS) {
      if (!wanted.has(step) || this.#done.has(step)) continue;
      onStep(step);
      try {
        await this.#perform(step, plan, isGuarded);
      } catch (cause) {
        throw new PublishStepError(step, cause);
      }
      this.#done.add(step);
    }
    return this.#created();
  }

  /** Deletes the service with its certificate, policy and rules, and gives the client its limits back. */
  async undo(): Promise<void> {
    if (this.#limitsBefore !== null) {
      await this.#api.patch(`/clients/${this.#limitsBefore.id}`, this.#limitsBefore.values);
      this.#limitsBefore = null;
    }
    if (this.#service !== null) await this.#api.delete(this.#path());
    this.#service = null;
    this.#rules.clear();
    this.#done.clear();
  }

  async #perform(step: PublishStep, plan: PublishPlan, isGuarded: boolean): Promise<void> {
    switch (step) {
      case 'service':
        this.#service = await this.#create(plan, isGuarded ? 0 : 1);
        return;
      case 'certificate':
        await this.#api.post(`${this.#path()}/cert`, plan.certificate);
        return;
      case 'policy': {
        const { kind, row } = this.#created();
        await this.#api.post('/auth-policies', { resource_type: kind, resource_id: row.id, ...plan.policy });
        return;
      }
      case 'rules':
        return this.#saveRules(plan.rules);
      case 'limits':
        return this.#limit(plan);
      case 'open':
        await this.#api.patch(this.#path(), { status: 1 });
    }
  }

  async #create({ service: { kind, body } }: PublishPlan, status: 0 | 1): Promise<PublishedService> {
    return kind === 'host'
      ? { kind, row: await this.#api.post<HostView>('/hosts', { ...body, status }) }
      : { kind, row: await this.#api.post<NewTunnelView>('/tunnels', { ...body, status }) };
  }

  /** Another attempt may want other rules: those that it no longer wants are deleted. */
  async #saveRules(rules: readonly PublishRule[]): Promise<void> {
    const { kind, row } = this.#created();
    const wanted = new Map(rules.map((rule) => [`${rule.type} ${rule.pattern}`, rule]));
    for (const [key, id] of this.#rules) {
      if (wanted.has(key)) continue;
      await this.#api.delete(`/ip-rules/${id}`);
      this.#rules.delete(key);
    }
    for (const [key, rule] of wanted) {
      if (this.#rules.has(key)) continue;
      const { id } = await this.#api.post<IpRuleView>('/ip-rules', { scope: kind, resource_id: row.id, ...rule });
      this.#rules.set(key, id);
    }
  }

  async #limit({ clientId, limits }: PublishPlan): Promise<void> {
    const before = await this.#api.get<TunnelClientView>(`/clients/${clientId}`);
    await this.#api.patch(`/clients/${before.id}`, limits);
    const values = Object.keys(limits ?? {}).map((name) => [name, before[name as keyof TunnelClientView]]);
    this.#limitsBefore = { id: before.id, values: Object.fromEntries(values) as Record<string, unknown> };
  }

  #created(): PublishedService {
    if (this.#service === null) throw new Error('the service has not been created');
    return this.#service;
  }

  #path(): string {
    const { kind, row } = this.#created();
    return `/${kind}s/${row.id}`;
  }
}
