import type { RuleTestResponse, RuleTestStep } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { TextField } from '../../shared/components/fields.js';
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

/** Asks the kernel which way a connection to an address would go, and shows each rule that it tried. */
export function UrlTest() {
  const api = useApi();
  const form = useForm({ url: '' });
  const [result, setResult] = useState<RuleTestResponse | null>(null);
  const ask = async ({ url }: { url: string }): Promise<void> => {
    setResult(await api.post<RuleTestResponse>('/rules/test', { url }));
  };
  return (
    <>
      <form class="card" onSubmit={form.submit(ask)}>
        <TextField
          label="Address"
          hint="https://www.example.com/, or only a host"
          required
          value={form.values.url}
          problem={form.problem('url') ?? form.error ?? undefined}
          onInput={(url) => form.set('url', url)}
        />
        <button type="submit" class="primary" disabled={form.busy}>
          Test
        </button>
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
