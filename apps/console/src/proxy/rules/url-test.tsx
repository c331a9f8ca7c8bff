import type { RuleTestResponse, RuleTestStep } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { FormEnd, plainChoices, SelectField, TextField } from '../../shared/components/fields.js';
import { Badge, Card, Facts, type BadgeTone } from '../../shared/components/page.js';
import { Table, type Column } from '../../shared/components/table.js';
import { formatCount } from '../../shared/format/amounts.js';
import { useForm } from '../../shared/state/use-form.js';
import { FlaggedName } from '../../shared/components/flag.js';
import { t } from '../messages/index.js';

const TONES: Record<RuleTestStep['result'], BadgeTone> = { match: 'good', miss: 'none', skipped: 'fair' };

const COLUMNS: readonly Column<RuleTestStep>[] = [
  { head: t('rules.place'), right: true, cell: ({ index }) => formatCount(index + 1) },
  { head: t('words.rule'), grow: true, cell: ({ type, payload }) => `${type} ${payload}` },
  {
    head: t('urlTest.resultHead'),
    cell: ({ result }) => <Badge tone={TONES[result]}>{t(`urlTest.results.${result}`)}</Badge>,
  },
  { head: t('words.reason'), cell: ({ reason }) => reason ?? '' },
];

interface TestForm {
  url: string;
  network: 'tcp' | 'udp';
  source_ip: string;
  inbound: string;
  user: string;
}

/** Asks the kernel which way a connection to an address would go, and shows each rule that it tried. */
export function UrlTest() {
  const api = useApi();
  const form = useForm<TestForm>({ url: '', network: 'tcp', source_ip: '', inbound: '', user: '' });
  const [result, setResult] = useState<RuleTestResponse | null>(null);
  const ask = async ({ url, network, ...client }: TestForm): Promise<void> => {
    const given = Object.entries(client).filter(([, value]) => value !== '');
    setResult(await api.post<RuleTestResponse>('/rules/test', { url, network, ...Object.fromEntries(given) }));
  };
  const text = (name: Exclude<keyof TestForm, 'network'>) => ({
    value: form.values[name],
    problem: form.problem(name),
    onInput: (value: string) => form.set(name, value),
  });
  return (
    <>
      <form class="card" onSubmit={form.submit(ask)}>
        <TextField label={t('urlTest.url')} hint={t('urlTest.urlHint')} required {...text('url')} />
        <div class="form-row">
          <SelectField
            label={t('urlTest.network')}
            value={form.values.network}
            choices={plainChoices(['tcp', 'udp'])}
            onChange={(network) => form.set('network', network as TestForm['network'])}
          />
          <TextField label={t('urlTest.sourceIp')} hint={t('urlTest.sourceIpHint')} {...text('source_ip')} />
          <TextField label={t('urlTest.inbound')} hint={t('urlTest.inboundHint')} {...text('inbound')} />
          <TextField label={t('urlTest.user')} hint={t('urlTest.userHint')} {...text('user')} />
        </div>
        <FormEnd error={form.error} busy={form.busy} action={t('rules.runTest')} />
      </form>
      {result && <Outcome result={result} />}
    </>
  );
}

function Outcome({ result }: { result: RuleTestResponse }) {
  const { rule, node, chain } = result;
  return (
    <Card title={t('urlTest.outcome')}>
      <p role="status">
        <strong>{rule ? rule.raw : t('urlTest.noRule')}</strong>
        {' → '}
        <strong>
          <FlaggedName name={chain.join(' → ')} />
        </strong>
      </p>
      {result.refusal !== null && <p class="problem">{t('urlTest.refused', { reason: result.refusal })}</p>}
      <Facts
        facts={[
          [
            t('urlTest.asked'),
            t('urlTest.askedText', {
              scheme: result.scheme,
              host: result.host,
              port: String(result.port),
              network: result.network,
            }),
          ],
          [
            t('words.node'),
            node &&
              t('urlTest.nodeText', {
                name: node.name,
                details: [node.type, node.country].filter((part) => part !== null).join(', '),
              }),
          ],
          [
            t('urlTest.addresses'),
            result.ip.join(', ') || (result.resolved ? t('urlTest.noneFound') : t('urlTest.notResolved')),
          ],
          [t('urlTest.tried'), t('urlTest.triedText', { count: result.evaluated, elapsed: result.elapsed_us })],
        ]}
      />
      <Table
        caption={t('urlTest.trace')}
        columns={COLUMNS}
        rows={result.trace}
        rowKey={({ index }) => index}
        empty={t('urlTest.noTrace')}
      />
    </Card>
  );
}
