import type { TemplateTarget } from '@gatehouse/contracts';

/** A template as a form. The names are those of the API, so that refusals find their fields. */
export interface TemplateForm {
  name: string;
  target: TemplateTarget;
  text: string;
}
