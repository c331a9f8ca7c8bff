import type { IpRuleCheck, IpRuleCheckLevel } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { FormEnd, SelectField, TextField } from '../../shared/components/fields.js';
import { Badge, Card } from '../../shared/components/page.js';
import { Table, type Column } from '../../shared/components/table.js';
import { useForm, type Form } from '../../shared/state/use-form.js';
import { ResourceField } from '../parts/resource-field.js';
import { useResourceNames } from '../parts/resource-names.js';
import type { ResourceKind } from '../parts/resources.js';
import { useIsAdministrator } from '../user-context.js';
import { checkQuery, OUTCOMES, type CheckForm, type CheckPlace } from './check-form.js';
import { aboutOf } from './rule-table.js';

/** What the rules decide about an address, and why, level by level. */
export function RuleCheck() {
  const api = useApi();
  const form = useForm<CheckForm>({ ip: '', place: 'tunnel', resource_id: '' });
  const [check, setCheck] = useState<IpRuleCheck | null>(null);
  const ask = async (values: CheckForm): Promise<void> => {
    setCheck(null);
    setCheck(await api.get<IpRuleCheck>('/ip-rules/check', checkQuery(values)));
  };
  return (
    <>
      <Card title="Would it come in?">
        <form onSubmit={form.submit(ask)}>
          <div class="form-row">
            <TextField
              label="Address"
              hint="Of a visitor, such as 203.0.113.9"
              required
              autofocus
              value={form.values.ip}
              problem={form.problem('ip')}
              onInput={(ip) => form.set('ip', ip)}
            />
            <PlaceFields form={form} />
          </div>
          <FormEnd error={form.error} busy={form.busy} action="Check" />
        </form>
      </Card>
      {check && <Decision check={check} />}
    </>
  );
}

function PlaceFields({ form }: { form: Form<CheckForm> }) {
  const isAdministrator = useIsAdministrator();
  const places = [
    { value: 'tunnel', label: 'A tunnel' },
    { value: 'host', label: 'A host' },
    { value: 'client', label: 'Anything of a client' },
    ...(isAdministrator ? [{ value: 'console', label: 'This console' }] : []),
  ];
  const { place, resource_id: id } = form.values;
  return (
    <>
      <SelectField
        label="It goes to"
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
          label={`Which ${place}`}
          value={id}
          problem={form.problem('resource_id')}
          onChange={(value) => form.set('resource_id', value)}
        />
      )}
    </>
  );
}

function Decision({ check }: { check: IpRuleCheck }) {
  const nameOf = useResourceNames(check.levels.map(({ scope, resource_id: id }) => ({ kind: scope, id })));
  const columns: Column<IpRuleCheckLevel>[] = [
    { head: 'Level', cell: (level) => aboutOf(level, nameOf) },
    { head: 'Result', cell: ({ outcome }) => <Badge tone={OUTCOMES[outcome].tone}>{OUTCOMES[outcome].text}</Badge> },
    { head: 'Because', grow: true, cell: (level) => <Reason level={level} /> },
  ];
  return (
    <Card title="What the rules say">
      <p role="status">
        <code>{check.ip}</code>
        {check.country !== null && ` (${check.country})`}{' '}
        <Badge tone={check.allowed ? 'good' : 'bad'}>{check.allowed ? 'allowed' : 'denied'}</Badge>
      </p>
      <Table
        caption="Levels"
        columns={columns}
        rows={check.levels}
        rowKey={({ scope, resource_id }) => `${scope} ${resource_id}`}
        empty="No level has rules."
      />
    </Card>
  );
}

function Reason({ level: { rule, outcome, unresolved } }: { level: IpRuleCheckLevel }) {
  return (
    <>
      {rule ? (
        <>
          rule <code>{rule.pattern}</code>
          {rule.remark !== null && <span class="muted"> {rule.remark}</span>}
        </>
      ) : (
        <span class="muted">{OUTCOMES[outcome].reason}</span>
      )}
      {unresolved && (
        <span class="second problem">Rules about countries do not hold: no database of them is loaded.</span>
      )}
    </>
  );
}
