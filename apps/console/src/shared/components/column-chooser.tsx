import { useState } from 'preact/hooks';
import { t } from '../messages/index.js';
import { Dialog } from './dialog.js';
import { CheckField } from './fields.js';

interface ColumnChooserProps {
  columns: readonly { id: string; head: string }[];
  chosen: readonly string[];
  defaults: readonly string[];
  onChange: (chosen: readonly string[]) => void;
}

/** A button that lets the reader choose which columns a table has. */
export function ColumnChooser({ columns, chosen, defaults, onChange }: ColumnChooserProps) {
  const [isOpen, setIsOpen] = useState(false);
  const toggle = (id: string, on: boolean): void =>
    onChange(on ? [...chosen, id] : chosen.filter((other) => other !== id));
  return (
    <>
      <button type="button" onClick={() => setIsOpen(true)}>
        {t('table.columns')}
      </button>
      {isOpen && (
        <Dialog title={t('table.columns')} onClose={() => setIsOpen(false)}>
          <div class="choices">
            {columns.map(({ id, head }) => (
              <CheckField key={id} label={head} checked={chosen.includes(id)} onChange={(on) => toggle(id, on)} />
            ))}
          </div>
          <div class="dialog-actions">
            <button type="button" onClick={() => onChange(defaults)}>
              {t('table.resetColumns')}
            </button>
            <button type="button" class="primary" onClick={() => setIsOpen(false)}>
              {t('common.close')}
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}
