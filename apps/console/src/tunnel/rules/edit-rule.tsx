import type { IpRuleView, WrittenIpRuleView } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { Dialog } from '../../shared/components/dialog.js';
import { EditDialog } from '../../shared/components/edit-dialog.js';
import { FormEnd } from '../../shared/components/fields.js';
import { useNotify } from '../../shared/components/notices.js';
import { SaveEnd } from '../../shared/components/save-end.js';
import { useForm } from '../../shared/state/use-form.js';
import type { Row } from '../../shared/state/use-row.js';
import { t } from '../messages/index.js';
import { useIsAdministrator } from '../user-context.js';
import { RuleFields } from './rule-fields.js';
import { formOf, toBody, toChanges, type RuleForm } from './rule-form.js';

interface RuleDialogProps {
  onClose: () => void;
  onDone: () => void;
}

export function NewRule({ onClose, onDone }: RuleDialogProps) {
  const api = useApi();
  const written = useWritten(onClose, onDone);
  const form = useForm<RuleForm>(formOf(null, useIsAdministrator()));
  const create = async (values: RuleForm): Promise<void> => {
    written(await api.post<WrittenIpRuleView>('/ip-rules', toBody(values)));
  };
  return (
    <Dialog title={t('rules.add')} onClose={onClose}>
      <form onSubmit={form.submit(create)}>
        <RuleFields form={form} isNew />
        <FormEnd error={form.error} busy={form.busy} action={t('words.create')} onCancel={onClose} />
      </form>
    </Dialog>
  );
}

export function EditRule({ rule, onClose, onDone }: RuleDialogProps & { rule: IpRuleView }) {
  return (
    <EditDialog<IpRuleView>
      title={t('rules.editTitle', { pattern: rule.pattern })}
      path={`/ip-rules/${rule.id}`}
      onClose={onClose}
    >
      {(row, version) => <RuleEditor rule={row} version={version} onClose={onClose} onDone={onDone} />}
    </EditDialog>
  );
}

interface RuleEditorProps extends RuleDialogProps {
  rule: IpRuleView;
  version: Pick<Row<IpRuleView>, 'etag' | 'reload'>;
}

function RuleEditor({ rule, version, onClose, onDone }: RuleEditorProps) {
  const api = useApi();
  const written = useWritten(onClose, onDone);
  const form = useForm<RuleForm>(formOf(rule, true));
  const save = async (values: RuleForm): Promise<void> => {
    written(await api.patch<WrittenIpRuleView>(`/ip-rules/${rule.id}`, toChanges(values), version.etag));
  };
  return (
    <form onSubmit={form.submit(save)}>
      <RuleFields form={form} isNew={false} />
      <SaveEnd form={form} action={t('common.save')} onCancel={onClose} onReload={version.reload} />
    </form>
  );
}

/** Reports that a rule was saved, with the warning that came with it. */
function useWritten(onClose: () => void, onDone: () => void): (rule: WrittenIpRuleView) => void {
  const notify = useNotify();
  return ({ pattern, warning }) => {
    notify(t('rules.active', { pattern }));
    if (warning !== null) notify(warning, 'bad');
    onDone();
    onClose();
  };
}
