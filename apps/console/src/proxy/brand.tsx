import icon from '../shared/icon.svg';

export function Brand() {
  return (
    <div class="brand">
      <img src={icon} width="30" height="30" alt="" />
      <span>
        Gatehouse
        <small>proxy gateway</small>
      </span>
    </div>
  );
}
