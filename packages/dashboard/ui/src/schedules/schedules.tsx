export function Schedules({ name }: { readonly name: string | undefined }) {
  return <h1>Schedules {name}</h1>
}
