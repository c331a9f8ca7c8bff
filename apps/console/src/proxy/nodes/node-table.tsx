import type { NodeView } from '@gatehouse/contracts';
import type { ComponentChildren } from 'preact';
import { Country } from '../../shared/components/flag.js';
import { VirtualTable, type VirtualColumn } from '../../shared/components/virtual-table.js';
import { countryName } from '../../shared/format/countries.js';
import { language } from '../../shared/messages/index.js';
import { t } from '../messages/index.js';
import {
  EnabledSwitch,
  NodeDelay,
  NodeTitle,
  NodeTraffic,
  NodeType,
  SelectBox,
  serverOf,
  UseButton,
  type NodeActions,
} from './node-cells.js';
import type { NodeList, NodeRow } from './use-nodes.js';

interface NodeTableProps {
  list: NodeList;
  sort: string;
  onSort: (sort: string) => void;
  actions: NodeActions;
  empty: string;
}

/** The list of nodes, of any length. */
export function NodeTable({ list, sort, onSort, actions, empty }: NodeTableProps) {
  return (
    <VirtualTable
      caption={t('nav.nodes')}
      columns={columnsOf(actions)}
      rows={list.rows}
      rowKey={({ id }) => id}
      rowClass={({ id, node }) => `${node?.enabled === false ? 'faint' : ''} ${actions.isSelected(id) ? 'marked' : ''}`}
      card={(row) => <NodeCard row={row} actions={actions} />}
      rowHeight={52}
      cardHeight={92}
      sort={sort}
      orders={ORDERS}
      onSort={onSort}
      onView={list.look}
      empty={empty}
    />
  );
}

const ORDERS = [
  { head: t('nodes.orderAdded'), sort: 'id' },
  { head: t('common.name'), sort: 'name' },
  { head: t('words.delay'), sort: 'delay' },
  { head: t('common.type'), sort: 'type' },
  { head: t('nodes.subscription'), sort: 'subscription' },
  { head: t('words.country'), sort: 'country' },
  { head: t('common.status'), sort: 'status' },
];

function columnsOf(actions: NodeActions): VirtualColumn<NodeRow>[] {
  const cell =
    (draw: (node: NodeView) => ComponentChildren) =>
    ({ node }: NodeRow): ComponentChildren =>
      node === undefined ? null : draw(node);
  return [
    {
      id: 'select',
      head: t('bulk.select'),
      quietHead: true,
      width: 36,
      cell: ({ id, node }) => <SelectBox id={id} name={node?.name ?? `n${id}`} actions={actions} />,
    },
    {
      id: 'enabled',
      head: t('common.status'),
      sort: 'status',
      width: 74,
      cell: cell((node) => <EnabledSwitch node={node} reload={actions.reload} />),
    },
    {
      id: 'name',
      head: t('common.name'),
      sort: 'name',
      width: 210,
      grow: 3,
      cell: ({ id, node }) =>
        node === undefined ? (
          <span class="muted">n{id} …</span>
        ) : (
          <NodeTitle node={node} actions={actions} second={serverOf(node)} />
        ),
    },
    { id: 'type', head: t('common.type'), sort: 'type', width: 108, cell: cell((node) => <NodeType node={node} />) },
    {
      id: 'subscription',
      head: t('nodes.subscription'),
      sort: 'subscription',
      width: 118,
      grow: 1,
      cell: cell((node) => <span title={sourcesOf(node)}>{node.subscription_name ?? '–'}</span>),
    },
    {
      id: 'country',
      head: t('words.country'),
      sort: 'country',
      width: 92,
      cell: cell((node) =>
        node.country === null ? '–' : <Country code={node.country} name={countryName(node.country, language())} />,
      ),
    },
    {
      id: 'delay',
      head: t('words.delay'),
      sort: 'delay',
      right: true,
      width: 128,
      cell: cell((node) => <NodeDelay node={node} actions={actions} />),
    },
    {
      id: 'traffic',
      head: t('words.bytes'),
      right: true,
      width: 104,
      cell: cell((node) => <NodeTraffic node={node} />),
    },
    {
      id: 'use',
      head: t('exit.use'),
      quietHead: true,
      right: true,
      width: 76,
      cell: cell((node) => <UseButton node={node} actions={actions} />),
    },
  ];
}

function sourcesOf(node: NodeView): string {
  return node.subscription_name === null ? t(`nodes.sourceNames.${node.source}`) : node.subscription_name;
}

/** A node on a phone. */
function NodeCard({ row: { id, node }, actions }: { row: NodeRow; actions: NodeActions }) {
  if (node === undefined) return <span class="muted">n{id} …</span>;
  const second = [node.type, node.country, node.subscription_name].filter(Boolean).join(' · ');
  return (
    <>
      <div class="line">
        <span class="named">
          <SelectBox id={id} name={node.name} actions={actions} />
          <span>
            <NodeTitle node={node} actions={actions} second={second} />
          </span>
        </span>
        <span class="right">
          <NodeDelay node={node} actions={actions} />
        </span>
      </div>
      <div class="line">
        <EnabledSwitch node={node} reload={actions.reload} />
        <UseButton node={node} actions={actions} />
      </div>
    </>
  );
}
