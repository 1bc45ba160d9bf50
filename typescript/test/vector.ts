/** Vector is a report with all that it follows from. */
export interface Vector {
  params: string;
  fingerprint: string;
  cell: number;
  value: number | null;
  words: string;
  report: string;
}
