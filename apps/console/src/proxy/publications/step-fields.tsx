import { PUBLICATION_STEPS, type PublicationStepKind } from '@gatehouse/contracts';
import { SelectField } from '../../shared/components/fields.js';
import { RowAction, RowActions } from '../../shared/components/row-actions.js';
import type { Form } from '../../shared/state/use-form.js';
import { t } from '../messages/index.js';
import { stepFormOf, type PublicationForm, type StepForm } from './publication-form.js';
import { StepOptions } from './step-options.js';

const KINDS = PUBLICATION_STEPS.map((value) => ({ value, label: t(`publications.kinds.${value}`) }));

/** What is done with the nodes, one after another. */
export function StepFields({ form }: { form: Form<PublicationForm> }) {
  const { steps } = form.values;
  const problem = form.problem('steps');
  const change = (next: readonly StepForm[]): void => form.set('steps', next);
  return (
    <>
      {steps.map((step, index) => (
        <fieldset key={step.key}>
          <legend>{t('publications.step', { number: index + 1 })}</legend>
          <div class="form-row">
            <SelectField
              label={t('publications.do')}
              value={step.do}
              choices={KINDS}
              onChange={(kind) => change(steps.with(index, { ...step, do: kind as PublicationStepKind }))}
            />
            <StepOptions step={step} onChange={(changes) => change(steps.with(index, { ...step, ...changes }))} />
          </div>
          <StepButtons steps={steps} index={index} onChange={change} />
        </fieldset>
      ))}
      {problem !== undefined && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      <p class="actions">
        <button type="button" onClick={() => change([...steps, stepFormOf({ do: 'drop' })])}>
          {t('publications.addStep')}
        </button>
      </p>
    </>
  );
}

interface StepButtonsProps {
  steps: readonly StepForm[];
  index: number;
  onChange: (steps: readonly StepForm[]) => void;
}

function StepButtons({ steps, index, onChange }: StepButtonsProps) {
  const number = index + 1;
  const swapped = (first: number): StepForm[] => {
    const [a, b] = [steps[first], steps[first + 1]];
    return a && b ? steps.with(first, b).with(first + 1, a) : [...steps];
  };
  return (
    <RowActions>
      <RowAction
        label={t('publications.upName', { number })}
        disabled={index === 0}
        onClick={() => onChange(swapped(index - 1))}
      >
        ↑
      </RowAction>
      <RowAction
        label={t('publications.downName', { number })}
        disabled={number === steps.length}
        onClick={() => onChange(swapped(index))}
      >
        ↓
      </RowAction>
      <RowAction
        label={t('publications.removeName', { number })}
        danger
        onClick={() => onChange(steps.toSpliced(index, 1))}
      >
        {t('common.delete')}
      </RowAction>
    </RowActions>
  );
}
