import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';

const ROOT = new URL('../../', import.meta.url);
export const DASHBOARDS = new URL('deploy/grafana/', ROOT);
export const ALERTS = new URL('deploy/prometheus/alerts.yml', ROOT);

/** Prometheus makes these itself. */
const OF_PROMETHEUS = new Set(['up']);
/** What Node says of every process: libraries name them. */
const OF_THE_LIBRARY = /^(?:process|nodejs)_/;
const SUFFIXES = /_(?:bucket|sum|count)$/;

export interface DocumentedMetric {
  readonly name: string;
  readonly type: string;
  readonly labels: readonly string[];
}

/** The rows of the tables in docs/metrics.md. */
export function documentedMetrics(): DocumentedMetric[] {
  const page = readFileSync(new URL('docs/metrics.md', ROOT), 'utf8');
  const rows = page.matchAll(/^\| `([a-z0-9_]+)` \| (counter|gauge|histogram) \|([^|]*)\|/gm);
  return [...rows].map(([, name = '', type = '', labels = '']) => ({
    name,
    type,
    labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label = '']) => label),
  }));
}

export function isOurs(name: string): boolean {
  return !OF_THE_LIBRARY.test(name);
}

export interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export function alerts(): Alert[] {
  const file = parse(readFileSync(ALERTS, 'utf8')) as { groups: { rules: Alert[] }[] };
  return file.groups.flatMap(({ rules }) => rules);
}

interface Panel {
  readonly title: string;
  readonly panels?: readonly Panel[];
  readonly targets?: readonly { readonly expr: string }[];
}

export interface Dashboard {
  readonly uid: string;
  readonly title: string;
  readonly panels: readonly Panel[];
}

export function dashboards(): Dashboard[] {
  const files = readdirSync(DASHBOARDS).filter((name) => name.endsWith('.json'));
  return files.map((name) => JSON.parse(readFileSync(new URL(name, DASHBOARDS), 'utf8')) as Dashboard);
}

function expressionsOf(panels: readonly Panel[]): string[] {
  return panels.flatMap(({ targets = [], panels: inner = [] }) => [
    ...targets.map(({ expr }) => expr),
    ...expressionsOf(inner),
  ]);
}

/** By file: the metrics that its expressions name, without the suffixes of histograms. */
export function namesInDeployment(known: (name: string) => boolean): Record<string, string[]> {
  const expressions: Record<string, string[]> = {
    'alerts.yml': alerts().map(({ expr }) => expr),
    ...Object.fromEntries(dashboards().map(({ uid, panels }) => [uid, expressionsOf(panels)])),
  };
  return Object.fromEntries(
    Object.entries(expressions).map(([file, all]) => [file, [...new Set(all.flatMap((text) => namesIn(text, known)))]]),
  );
}

/** Every word that could be a metric: no function, keyword, label, variable or text. */
export function namesIn(expression: string, known: (name: string) => boolean): string[] {
  const bare = expression
    .replaceAll(/"[^"]*"/g, '')
    .replaceAll(/\{[^}]*\}/g, '')
    .replaceAll(/\[[^\]]*\]/g, '')
    .replaceAll(/\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/g, '');
  const words = [...bare.matchAll(/[a-zA-Z_]\w*(?!\w*\s*\()/g)].map(([word]) => word);
  const names = words
    .filter((word) => /_/.test(word) || OF_PROMETHEUS.has(word))
    .filter((word) => !OF_PROMETHEUS.has(word));
  return names.map((name) => (known(name) ? name : name.replace(SUFFIXES, '')));
}
