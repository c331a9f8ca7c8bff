import icon from '../icon.svg';

/** `product`: which of the services it is. */
export function Brand({ product }: { product: string }) {
  return (
    <div class="brand">
      <img src={icon} width="30" height="30" alt="" />
      <span>
        Gatehouse
        <small>{product}</small>
      </span>
    </div>
  );
}
