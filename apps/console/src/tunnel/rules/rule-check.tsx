import type { IpRuleCheck, IpRuleCheckLevel } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { FormEnd, SelectField, TextField } from '../../shared/components/fields.js';
import { Badge, Card } from '../../shared/components/page.js';
import { Table, type Column } from '../../shared/components/table.js';
import { useForm, type Form } from '../../shared/state/use-form.js';
import { code } from '../../shared/components/rich-text.js';
import { rich, t } from '../messages/index.js';
import { ResourceField } from '../parts/resource-field.js';
import { useResourceNames } from '../parts/resource-names.js';
import type { ResourceKind } from '../parts/resources.js';
import { useIsAdministrator } from '../user-context.js';
import { checkQuery, OUTCOMES, type CheckForm, type CheckPlace } from './check-form.js';
import { aboutOf } from './rule-table.js';

/** What the rules decide about an address, and why, level by level. */
export function RuleCheck() {
  const api = useApi();
  const form = useForm<CheckForm>({ ip: '', place: 'tunnel', resource_id: '', path: '', method: '' });
  const [check, setCheck] = useState<IpRuleCheck | null>(null);
  const ask = async (values: CheckForm): Promise<void> => {
    setCheck(null);
    setCheck(await api.get<IpRuleCheck>('/ip-rules/check', checkQuery(values)));
  };
  return (
    <>
      <Card title={t('rules.checkTitle')}>
        <form onSubmit={form.submit(ask)}>
          <div class="form-row">
            <TextField
              label={t('words.ipAddress')}
              hint={t('rules.visitorHint')}
              required
              autofocus
              value={form.values.ip}
              problem={form.problem('ip')}
              onInput={(ip) => form.set('ip', ip)}
            />
            <PlaceFields form={form} />
          </div>
          <FormEnd error={form.error} busy={form.busy} action={t('rules.checkAction')} />
        </form>
      </Card>
      {check && <Decision check={check} />}
    </>
  );
}

function PlaceFields({ form }: { form: Form<CheckForm> }) {
  const isAdministrator = useIsAdministrator();
  const places = [
    { value: 'tunnel', label: t('rules.destinations.tunnel') },
    { value: 'host', label: t('rules.destinations.host') },
    { value: 'client', label: t('rules.destinations.client') },
    ...(isAdministrator ? [{ value: 'console', label: t('rules.destinations.console') }] : []),
  ];
  const { place, resource_id: id } = form.values;
  return (
    <>
      <SelectField
        label={t('rules.destination')}
        value={place}
        choices={places}
        onChange={(value) => {
          form.set('place', value as CheckPlace);
          form.set('resource_id', '');
        }}
      />
      {place !== 'console' && (
        <ResourceField
          kind={place as ResourceKind}
          label={t(`kinds.${place}`)}
          value={id}
          problem={form.problem('resource_id')}
          onChange={(value) => form.set('resource_id', value)}
        />
      )}
      {place === 'host' && (
        <>
          <TextField
            label={t('rules.path')}
            hint={t('rules.pathHint')}
            value={form.values.path}
            problem={form.problem('path')}
            onInput={(path) => form.set('path', path)}
          />
          <TextField
            label={t('rules.method')}
            hint={t('rules.methodHint')}
            value={form.values.method}
            problem={form.problem('method')}
            onInput={(method) => form.set('method', method)}
          />
        </>
      )}
    </>
  );
}

function Decision({ check }: { check: IpRuleCheck }) {
  const facts = [check.country, check.asn === null ? null : `AS${check.asn}`].filter((fact) => fact !== null);
  const nameOf = useResourceNames(check.levels.map(({ scope, resource_id: id }) => ({ kind: scope, id })));
  const columns: Column<IpRuleCheckLevel>[] = [
    { head: t('rules.level'), cell: (level) => aboutOf(level, nameOf) },
    {
      head: t('rules.result'),
      cell: ({ outcome }) => <Badge tone={OUTCOMES[outcome].tone}>{OUTCOMES[outcome].text}</Badge>,
    },
    { head: t('words.reason'), grow: true, cell: (level) => <Reason level={level} /> },
  ];
  return (
    <Card title={t('rules.decision')}>
      <p role="status">
        <code>{check.ip}</code>
        {facts.length > 0 && ` (${facts.join(', ')})`}{' '}
        {check.request && (
          <code>
            {check.request.method} {check.request.path}
          </code>
        )}{' '}
        <Badge tone={check.allowed ? 'good' : 'bad'}>
          {check.allowed ? t('rules.outcomes.allowed') : t('rules.outcomes.denied')}
        </Badge>
      </p>
      <Table
        caption={t('rules.levels')}
        columns={columns}
        rows={check.levels}
        rowKey={({ scope, resource_id }) => `${scope} ${resource_id}`}
        empty={t('rules.noLevels')}
      />
    </Card>
  );
}

function Reason({ level: { rule, outcome, unresolved } }: { level: IpRuleCheckLevel }) {
  return (
    <>
      {rule ? (
        <>
          {rich('rules.byRule', { pattern: rule.pattern, code })}
          {rule.remark !== null && <span class="muted"> {rule.remark}</span>}
        </>
      ) : (
        <span class="muted">{OUTCOMES[outcome].reason}</span>
      )}
      {unresolved && <span class="second problem">{t('rules.noDatabase')}</span>}
    </>
  );
}
