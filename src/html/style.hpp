#pragma once

namespace eckart::html {

/// The style sheet of all pages. The colors are those of Okabe and Ito (2008), which color-blind
/// people can distinguish. Lines also differ in their dashes.
inline constexpr const char* kStyle = R"css(
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #5b6470; --paper: #fff; --line: #d5dae0;
  --track: #eceff3; --shade: #0003; --c1: #0072b2; --c2: #d55e00; --c3: #00815e; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8eaed; --soft: #a3acb8; --paper: #16191d;
  --line: #3a414a; --track: #262c33; --shade: #fff4;
  --c1: #56b4e9; --c2: #e69f00; --c3: #35c79b; } }
@media print { :root { --ink: #000; --soft: #444; --paper: #fff; --line: #bbb; --track: #eee;
  --c1: #0072b2; --c2: #d55e00; --c3: #00815e; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 66rem; padding: 1.5rem 1rem 3rem; background: var(--paper);
  color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; font-variant-numeric: tabular-nums; }
h1 { font-size: 1.6rem; margin: 0 0 .5rem; }
h2 { font-size: 1rem; margin: 0 0 .4rem; color: var(--soft); overflow-wrap: anywhere; }
h3 { font-size: 1rem; margin: 1.5rem 0 .4rem; }
p, li, dd { overflow-wrap: anywhere; }
p { margin: 0 0 1rem; }
p.answer { font-size: 1.2rem; }
ul { margin: 0; padding-left: 1.2rem; }
section + section { margin-top: 2.5rem; border-top: 1px solid var(--line); padding-top: 1rem; }
dl { display: grid; grid-template-columns: 6rem 1fr; gap: .35rem .75rem; margin: 1rem 0; }
dt { color: var(--soft); } dd { margin: 0; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); gap: 0 2rem; }
figure { margin: 0; }
figure > svg { width: 100%; height: auto; display: block; }
svg text { font-size: 13px; fill: var(--ink); }
svg .grid { stroke: var(--line); fill: none; } svg .axis { stroke: var(--soft); fill: none; }
svg path.mark { stroke: var(--soft); stroke-dasharray: 1 4; fill: none; }
svg text.mark { font-size: 11px; fill: var(--soft); }
svg polyline, svg path.c1, svg path.c2, svg path.c3 { fill: none; stroke-width: 2.5; }
svg .dashed { stroke-dasharray: 9 5; } svg .dotted { stroke-dasharray: 2 4; }
svg .c1 { stroke: var(--c1); } svg .c2 { stroke: var(--c2); } svg .c3 { stroke: var(--c3); }
svg circle { stroke-width: 1.5; } svg circle.c1 { fill: var(--c1); stroke: var(--paper); }
svg circle.c2 { fill: var(--c2); stroke: var(--paper); }
svg circle.c3 { fill: var(--c3); stroke: var(--paper); }
svg .band { fill: var(--c1); stroke: none; opacity: .2; }
svg .track { fill: var(--track); }
svg .bar.c1 { fill: var(--c1); stroke: none; } svg .bar.c2 { fill: var(--c2); stroke: none; }
figcaption { display: flex; flex-wrap: wrap; gap: .1rem 1.2rem; font-size: .875rem; color: var(--soft); }
figcaption span { display: flex; align-items: center; gap: .4rem; }
svg.key { width: 28px; height: 12px; }
/* A shadow shows that the table continues to this side. The first two gradients scroll with the table
   and hide the shadow at its end. */
.wide { overflow-x: auto; background:
  linear-gradient(90deg, var(--paper) 1rem, transparent 2rem) 0 / 50% 100% no-repeat local,
  linear-gradient(-90deg, var(--paper) 1rem, transparent 2rem) 100% / 50% 100% no-repeat local,
  linear-gradient(90deg, var(--shade), transparent) 0 / 1rem 100% no-repeat,
  linear-gradient(-90deg, var(--shade), transparent) 100% / 1rem 100% no-repeat; }
table { border-collapse: collapse; font-size: .925rem; }
th, td { padding: .25rem .9rem .25rem 0; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--line); }
th { color: var(--soft); font-weight: 600; }
th:first-child, td:first-child { text-align: left; white-space: normal; }
.measured th, .measured td, .measured th:first-child, .measured td:first-child { white-space: nowrap; }
.named th:nth-child(2), .named td:nth-child(2) { text-align: left; }
.measured table { font-size: .85rem; } .measured th, .measured td { padding-right: .7rem; }
.measured h2 { font-size: 1.15rem; margin-top: 1.6rem; color: inherit; }
.measured figure { max-width: 34rem; }
.pictures { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 18rem), 1fr)); gap: 1.5rem; }
.pictures img { width: 100%; height: auto; display: block; margin-top: .4rem; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; font-size: .8rem; }
details { margin-top: 1.5rem; } summary { cursor: pointer; }
.warning { color: var(--c2); }
/* Wide tables use the right margin of the page. */
@media screen { .measured .wide { margin-right: min(0px, 34rem - 50vw); } }
@media screen and (max-width: 40rem) {
  dl { grid-template-columns: 5.25rem 1fr; gap: .35rem .5rem; }
  table { font-size: .75rem; } th, td { padding-right: .35rem; white-space: normal; }
  .measured th, .measured td { white-space: nowrap; }
  .list thead { display: none; } .list table, .list tbody { display: block; font-size: .925rem; }
  .list tr { display: block; padding: .4rem 0; border-bottom: 1px solid var(--line); }
  .list td { display: flex; justify-content: space-between; gap: 1rem; padding: 0; border: 0;
    white-space: normal; overflow-wrap: anywhere; }
  .list td::before { content: attr(data-head); color: var(--soft); }
  .list td:first-child { font-weight: 600; } .list td:first-child::before { content: none; }
  .list td:empty { display: none; }
}
@media print {
  @page { margin: 14mm; }
  :root { font-size: 9pt; }
  body { max-width: none; padding: 0; line-height: 1.35; }
  h1, h2, h3 { break-after: avoid; } dl, figure, tr { break-inside: avoid; }
  h3 { margin: .7rem 0 .2rem; } dl { margin: .5rem 0; }
  .plots { grid-template-columns: repeat(3, 1fr); gap: 0 1rem; } svg text { font-size: 17px; }
  .wide { overflow: visible; background: none; }
  th, td { padding-top: .1rem; padding-bottom: .1rem; }
  details:not([open]) { display: none; }
}
)css";

}  // namespace eckart::html
