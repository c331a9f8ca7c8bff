import type { DashboardPage } from '@gatehouse/contracts';
import { Card } from '../../shared/components/page.js';
import { Pager } from '../../shared/components/pager.js';
import { Table, type Column } from '../../shared/components/table.js';
import type { List, Turn } from './pages.js';

interface ListCardProps<T> {
  title: string;
  /** Which one, in the parameters of its page. */
  list: List;
  page: DashboardPage<T>;
  columns: readonly Column<T>[];
  rowKey: (row: T) => string;
  empty: string;
  turn: Turn;
}

/** One list of the dashboard, page by page. */
export function ListCard<T>({ title, list, page, columns, rowKey, empty, turn }: ListCardProps<T>) {
  return (
    <Card title={title}>
      <Table caption={title} columns={columns} rows={page.items} rowKey={rowKey} empty={empty} />
      <Pager
        label={title}
        {...page}
        onChange={({ limit, offset }) => turn({ [`${list}_limit`]: limit, [`${list}_offset`]: offset })}
      />
    </Card>
  );
}
