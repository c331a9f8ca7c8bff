/** A share of a whole as a bar. */
export function Meter({
  label,
  ratio,
  tone = 'info',
}: {
  label: string;
  ratio: number;
  tone?: 'info' | 'fair' | 'bad' | 'good';
}) {
  const percent = Math.min(100, Math.max(0, ratio * 100));
  return (
    <div
      class={`meter ${tone}`}
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(percent)}
    >
      <div style={{ width: `${percent}%` }} />
    </div>
  );
}
