export function Waiting() {
  return <h1>Waiting</h1>
}
