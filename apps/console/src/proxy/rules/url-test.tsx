import type { RuleTestResponse, RuleTestStep } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { FormEnd, plainChoices, SelectField, TextField } from '../../shared/components/fields.js';
import { Badge, Card, Facts, type BadgeTone } from '../../shared/components/page.js';
import { Table, type Column } from '../../shared/components/table.js';
import { formatCount } from '../../shared/format/amounts.js';
import { useForm } from '../../shared/state/use-form.js';

const TONES: Record<RuleTestStep['result'], BadgeTone> = { match: 'good', miss: 'none', skipped: 'fair' };

const COLUMNS: readonly Column<RuleTestStep>[] = [
  { head: 'Place', right: true, cell: ({ index }) => formatCount(index + 1) },
  { head: 'Rule', grow: true, cell: ({ type, payload }) => `${type} ${payload}` },
  { head: 'Result', cell: ({ result }) => <Badge tone={TONES[result]}>{result}</Badge> },
  { head: 'Why', cell: ({ reason }) => reason ?? '' },
];

interface TestForm {
  url: string;
  network: 'tcp' | 'udp';
  source_ip: string;
  inbound: string;
}

/** Asks the kernel which way a connection to an address would go, and shows each rule that it tried. */
export function UrlTest() {
  const api = useApi();
  const form = useForm<TestForm>({ url: '', network: 'tcp', source_ip: '', inbound: '' });
  const [result, setResult] = useState<RuleTestResponse | null>(null);
  const ask = async ({ url, network, source_ip: ip, inbound }: TestForm): Promise<void> => {
    const client = { ...(ip === '' ? {} : { source_ip: ip }), ...(inbound === '' ? {} : { inbound }) };
    setResult(await api.post<RuleTestResponse>('/rules/test', { url, network, ...client }));
  };
  const text = (name: 'url' | 'source_ip' | 'inbound') => ({
    value: form.values[name],
    problem: form.problem(name),
    onInput: (value: string) => form.set(name, value),
  });
  return (
    <>
      <form class="card" onSubmit={form.submit(ask)}>
        <TextField label="Address" hint="https://www.example.com/, or only a host" required {...text('url')} />
        <div class="form-row">
          <SelectField
            label="Over"
            value={form.values.network}
            choices={plainChoices(['tcp', 'udp'])}
            onChange={(network) => form.set('network', network as TestForm['network'])}
          />
          <TextField label="Asked by the client" hint="Its address; empty: this machine" {...text('source_ip')} />
          <TextField label="Through the listener" hint="Its name; empty: mixed" {...text('inbound')} />
        </div>
        <FormEnd error={form.error} busy={form.busy} action="Test" />
      </form>
      {result && <Outcome result={result} />}
    </>
  );
}

function Outcome({ result }: { result: RuleTestResponse }) {
  const { rule, node, chain } = result;
  return (
    <Card title="What it would meet">
      <p role="status">
        <strong>{rule ? rule.raw : 'No rule matches: the default policy takes it'}</strong>
        {' → '}
        <strong>{chain.join(' → ')}</strong>
      </p>
      <Facts
        facts={[
          ['Asked for', `${result.scheme}, ${result.host}, port ${result.port}, ${result.network}`],
          ['Node', node && `${node.name} (${node.type}${node.country === null ? '' : `, ${node.country}`})`],
          ['Addresses', result.ip.join(', ') || (result.resolved ? 'none found' : 'not asked for')],
          ['Rules tried', `${formatCount(result.evaluated)} in ${result.elapsed_us} µs`],
        ]}
      />
      <Table
        caption="Trace"
        columns={COLUMNS}
        rows={result.trace}
        rowKey={({ index }) => index}
        empty="No rule was tried."
      />
    </Card>
  );
}
