export function Needs() {
  return <h1>Needs</h1>
}
