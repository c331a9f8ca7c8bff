export interface Step {
  end(suffix?: string): void;
  fail(): void;
}
export function startStep(label: string): Step;
