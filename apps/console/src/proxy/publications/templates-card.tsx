import type { PublicationTemplateList, PublicationTemplateView, PublicationView } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { Card, Trouble } from '../../shared/components/page.js';
import { RemoveDialog } from '../../shared/components/remove-dialog.js';
import { bold } from '../../shared/components/rich-text.js';
import { RowAction, RowActions } from '../../shared/components/row-actions.js';
import { Table, type Column } from '../../shared/components/table.js';
import { formatRelative, formatTime } from '../../shared/format/times.js';
import { useResource } from '../../shared/state/use-resource.js';
import { rich, t } from '../messages/index.js';
import { TARGET_NAMES } from './address.js';
import { EditTemplate, NewTemplate } from './edit-template.js';

type Opened = { dialog: 'add' } | { dialog: 'edit' | 'remove'; template: PublicationTemplateView };

/** The user's own documents, into which publications put their nodes. */
export function TemplatesCard({ publications }: { publications: readonly PublicationView[] }) {
  const api = useApi();
  const [opened, setOpened] = useState<Opened | null>(null);
  const { data, error, reload } = useResource(
    (signal) => api.get<PublicationTemplateList>('/publication-templates', {}, signal),
    [],
    { areas: ['publications'] },
  );
  const close = (): void => setOpened(null);
  return (
    <Card
      title={t('templates.title')}
      actions={
        <button type="button" onClick={() => setOpened({ dialog: 'add' })}>
          {t('templates.add')}
        </button>
      }
    >
      <Trouble error={error} retry={reload} />
      <Table
        caption={t('templates.title')}
        columns={templateColumns(publications, (dialog, template) => setOpened({ dialog, template }))}
        rows={data?.items}
        rowKey={({ id }) => id}
        empty={t('templates.empty')}
      />
      {opened?.dialog === 'add' && <NewTemplate publications={publications} onClose={close} onDone={reload} />}
      {opened?.dialog === 'edit' && (
        <EditTemplate template={opened.template} publications={publications} onClose={close} onDone={reload} />
      )}
      {opened?.dialog === 'remove' && (
        <RemoveDialog
          title={t('templates.deleteTitle')}
          path={`/publication-templates/${opened.template.id}`}
          name={opened.template.name}
          onClose={close}
          onDone={reload}
        >
          <p>{rich('templates.deleteText', { name: opened.template.name, b: bold })}</p>
        </RemoveDialog>
      )}
    </Card>
  );
}

function templateColumns(
  publications: readonly PublicationView[],
  onOpen: (dialog: 'edit' | 'remove', template: PublicationTemplateView) => void,
): Column<PublicationTemplateView>[] {
  const names = new Map(publications.map(({ id, name }) => [id, name]));
  return [
    { head: t('common.name'), grow: true, cell: ({ name }) => <strong>{name}</strong> },
    { head: t('publications.format'), cell: ({ target }) => TARGET_NAMES[target] },
    {
      head: t('templates.usedBy'),
      cell: ({ publication_ids: ids }) => ids.map((id) => names.get(id) ?? `#${id}`).join(', ') || t('common.none'),
    },
    {
      head: t('templates.changed'),
      cell: ({ updated_at: at }) => <span title={formatTime(at)}>{formatRelative(at)}</span>,
    },
    {
      head: t('words.actions'),
      quietHead: true,
      right: true,
      cell: (template) => (
        <RowActions>
          <RowAction label={t('templates.editTitle', { name: template.name })} onClick={() => onOpen('edit', template)}>
            {t('common.edit')}
          </RowAction>
          <RowAction
            label={t('publications.deleteName', { name: template.name })}
            danger
            onClick={() => onOpen('remove', template)}
          >
            {t('common.deleteMore')}
          </RowAction>
        </RowActions>
      ),
    },
  ];
}
