"""Every name of a mechanism, protocol, estimator or search that a command may print: what it is and what it is for.

The documentation's glossary page is made from these entries. In formulas ``c = e^eps``, inputs x are on [0, 1] unless
another domain is said, k is the number of items, and log is natural.

>>> entry("oue").title
'optimised unary encoding'
>>> entry("T-SW").citation
'Refined mechanism design, chapter 5, section 5.6'
"""

from __future__ import annotations

from difflib import get_close_matches

from mechdesign.errors import InvalidInput
from mechdesign.values.declare import frozen

__all__ = ["ENTRIES", "KINDS", "Entry", "entry", "of_kind"]


@frozen
class Entry:
    """A name as outputs print it (in lower case), what it is, its law in a line, who wrote it, what it is good for.

    ``also`` are other spellings in outputs. Where nobody's paper is its source the citation says so.
    """

    name: str
    kind: str
    title: str
    what: str
    formula: str
    citation: str
    good_for: str
    also: tuple[str, ...] = ()


NUMBER, CIRCLE, CATEGORY, ONE_TIME, LONGITUDINAL, POST, ESTIMATOR, MEAN, DESIGN, PATH, SEARCH, CLASSIFIER = KINDS = (
    "numbers on an interval",
    "angles on a circle",
    "finite values",
    "frequencies, one report a user",
    "frequencies, many reports a user",
    "post-processing of frequencies",
    "estimators of frequencies",
    "means, end to end",
    "designs of this package",
    "paths of locations",
    "searches for an epsilon",
    "names only the classifier command has",
)
"""What the entries are for, in the order of the page."""

_CHAPTER_5 = "Refined mechanism design, chapter 5"
_CHAPTER_6 = "Refined mechanism design, chapter 6"
_CHAPTER_7 = "Refined mechanism design, chapter 7"
_PRINTED_MORE = "comparing with the numbers the published code gives; it does not spend the epsilon it says"

ENTRIES: tuple[Entry, ...] = (
    # -- numbers on an interval
    Entry(
        "laplace",
        NUMBER,
        "Laplace noise",
        "The value plus two-sided exponential noise. Unbiased; reports may be any real number.",
        "y = x + Lap(length / eps)",
        "Dwork, McSherry, Nissim and Smith, TCC 2006",
        "a first comparison; for small eps PM, HM and Duchi have less variance, for large eps staircase",
    ),
    Entry(
        "t-laplace",
        NUMBER,
        "truncated Laplace noise",
        "Laplace noise, reports outside the domain moved to its nearest end.",
        "y = clamp(x + Lap(length / eps))",
        "Holohan et al., JPC 2020",
        "single reports that must stay in the domain; biased, so not for means",
        ("truncated laplace",),
    ),
    Entry(
        "b-laplace",
        NUMBER,
        "bounded Laplace noise",
        "Laplace noise conditioned on the domain and normalised anew for every input, with the scale of Laplace noise.",
        "f(y|x) = e^(-|y-x| / b) / Z(x) on the domain",
        "Holohan et al., JPC 2020",
        "single reports that must stay in the domain; biased, so not for means",
    ),
    Entry(
        "staircase",
        NUMBER,
        "staircase noise",
        "Additive noise whose density falls in steps by the factor e^-eps; no additive noise has less expected error.",
        "f(t) falls by e^-eps every length; the share of the high part is tuned to the loss",
        "Geng and Viswanath, ISIT 2014",
        "unbiased additive noise at large eps",
    ),
    Entry(
        "duchi",
        NUMBER,
        "Duchi, Jordan and Wainwright's mechanism",
        "One of two reports beyond the ends of the domain; unbiased.",
        "on [-1, 1]: y = +-(c+1)/(c-1), Pr[+] = 1/2 + x (c-1) / (2c+2)",
        "Duchi, Jordan and Wainwright, JASA 2018",
        "means at small eps (below about 1), with one bit a report",
    ),
    Entry(
        "pm",
        NUMBER,
        "piecewise mechanism",
        "A density with a high window around (a stretched) x and a low rest, on a domain stretched so that reports are "
        "unbiased.",
        "on [-1, 1]: outputs [-C, C], C = (s+1)/(s-1), s = e^(eps/2); high p = (c - s)/(2 s + 2), low p/c",
        "Wang et al., ICDE 2019",
        "means of many users; the usual first choice",
    ),
    Entry(
        "t-pm",
        NUMBER,
        "truncated PM",
        "PM, reports outside the domain moved to its ends.",
        "y = clamp(PM(x))",
        f"{_CHAPTER_5}, section 5.6",
        "a rival in comparisons of single reports; biased",
    ),
    Entry(
        "pm-c",
        NUMBER,
        "compressed PM",
        "PM, its reports squeezed linearly onto the domain.",
        "y = PM(x) moved and scaled from [-C, C] to the domain",
        f"{_CHAPTER_5}, section 5.6",
        "a rival in comparisons of single reports; biased",
        ("pm-c (flattened)",),
    ),
    Entry(
        "hm",
        NUMBER,
        "hybrid mechanism",
        "A coin decides between PM and Duchi; Duchi alone below eps = 0.61.",
        "PM with probability 1 - e^(-eps/2), else Duchi",
        "Wang et al., ICDE 2019",
        "means, where the worst case over the inputs counts",
    ),
    Entry(
        "sw",
        NUMBER,
        "square wave",
        "A high density within b of x, a low one on the rest of [-b, 1 + b].",
        "b = (eps c - c + 1) / (2 c (c - 1 - eps)); low q = 1/(2 b c + 1), high c q",
        "Li et al., SIGMOD 2020",
        "the distribution of a number, with EM on the server (sw-em, sw-ems)",
    ),
    Entry(
        "t-sw",
        NUMBER,
        "truncated square wave",
        "SW, reports outside the domain moved to its ends.",
        "y = clamp(SW(x))",
        f"{_CHAPTER_5}, section 5.6",
        "single reports with small absolute error: often the best published one",
    ),
    Entry(
        "sw-c",
        NUMBER,
        "compressed square wave",
        "SW, its reports squeezed linearly onto the domain.",
        "y = (SW(x) + b) / (1 + 2b)",
        f"{_CHAPTER_5}, section 5.6",
        "a rival in comparisons of single reports; biased",
        ("sw-c (flattened)",),
    ),
    Entry(
        "r-sw",
        NUMBER,
        "redesigned square wave",
        "SW's central density on the domain itself: piecewise like OGPM, with other heights. On circles too.",
        "low (1 - e^-eps)/eps, high c times as much, the window as wide as is left",
        "Refined mechanism design, D.2.6",
        "a rival inside TraCS",
    ),
    Entry(
        "ogpm-u",
        NUMBER,
        "unbiased OGPM as printed",
        "A piecewise mechanism with outputs stretched so that reports are unbiased.",
        "outputs [-C, C + 1], C = (s+1)/(s-1), s = e^(eps/2)",
        f"{_CHAPTER_5}, theorem 10",
        "comparing with the chapter; PM has 3.1 to 8.4 times less variance",
    ),
    Entry(
        "ogpm",
        NUMBER,
        "optimal piecewise mechanism as printed",
        "A high density on a window around x, moved inwards at the ends, a low one on the rest of the domain.",
        "low e^(-eps/2), high e^(eps/2), window of width (s-1)/(c-1), s = e^(eps/2)",
        f"{_CHAPTER_5}, theorems 7 and 8",
        "single reports with absolute error, and angles, where it is the optimum of all mechanisms; not for means",
    ),
    Entry(
        "ogpm-squared",
        NUMBER,
        "optimal piecewise mechanism for squared error",
        "OGPM with the heights that are optimal for squared error, which the chapter prints otherwise.",
        "window share s with 2 (c - 1) s^3 + 3 s^2 = 1, low 1/(1 + (c-1) s)",
        f"{_CHAPTER_5}, corrected: ERRATA.md, item 1",
        "single reports with squared error, and angles",
        ("ogpm (squared)",),
    ),
    Entry(
        "rr-bins",
        NUMBER,
        "randomised response on equal bins",
        "The domain is cut into k equal bins; the report is a bin's centre, the own one more often.",
        "own bin c/(c + k - 1), any other 1/(c + k - 1); k has the least worst error",
        "Kairouz, Oh and Viswanath, NeurIPS 2014, on equal bins",
        "single reports with few possible values; near the optimum for squared error at small eps",
        ("rr on bins",),
    ),
    Entry(
        "gaussian",
        NUMBER,
        "Gaussian noise",
        "The value plus normal noise. Its pure epsilon is infinite: it has an epsilon only together with a delta.",
        "y = x + N(0, sigma^2)",
        "Dwork and Roth 2014",
        "comparisons in classifier, with --delta; no table is made of it",
    ),
    # -- angles
    Entry(
        "purkayastha",
        CIRCLE,
        "Laplace noise round a circle",
        "A density that falls exponentially with the distance round the circle.",
        "f(y|x) ~ e^(-eps d(x, y) / half the period)",
        "Weggenmann and Kerschbaum, CCS 2021",
        "a rival in comparisons of angles; OGPM on the circle has less error",
    ),
    # -- finite values
    Entry(
        "best single output",
        CATEGORY,
        "the best constant answer",
        "One output whatever the value, the one with the least loss: it tells nothing and spends nothing.",
        "y = argmin_y max_x loss(y, x); under a prior its average",
        "folklore",
        "seeing whether a mechanism for a loss matrix is worth its epsilon",
    ),
    Entry(
        "geometric",
        CATEGORY,
        "two-sided geometric noise",
        "Whole numbers plus whole noise whose chances fall by a constant factor.",
        "Pr[noise = t] ~ e^(-eps |t| / range)",
        "Ghosh, Roughgarden and Sundararajan, STOC 2009",
        "whole numbers that must stay unbiased",
        ("two-sided geometric",),
    ),
    # -- frequencies, one report
    Entry(
        "grr",
        ONE_TIME,
        "generalised (or k-ary) randomised response",
        "The report is a value, the true one more often than any other.",
        "own value p = c/(c + k - 1), any other q = 1/(c + k - 1)",
        "Warner, JASA 1965 (k = 2); Kairouz, Oh and Viswanath, NeurIPS 2014; Kairouz, Bonawitz and Ramage, ICML 2016",
        "yes/no questions, where it is optimal, and few items: k below about 3 c + 2",
        ("randomised response", "rr"),
    ),
    Entry(
        "sue",
        ONE_TIME,
        "symmetric unary encoding (basic RAPPOR)",
        "One bit an item, the own one set; every bit is flipped with the same chance.",
        "p = s/(s + 1), q = 1/(s + 1), s = e^(eps/2)",
        "Erlingsson, Pihur and Korolova, CCS 2014",
        "comparisons; OUE has less variance for rare items",
        ("rappor",),
    ),
    Entry(
        "oue",
        ONE_TIME,
        "optimised unary encoding",
        "One bit an item; the own bit is a fair coin, the others are rarely 1.",
        "p = 1/2, q = 1/(c + 1)",
        "Wang et al., USENIX Security 2017",
        "many items, where k bits may be sent",
    ),
    Entry(
        "blh",
        ONE_TIME,
        "binary local hashing",
        "A random hash to one bit, and randomised response on it.",
        "p = c/(c + 1), q = 1/2",
        "Bassily and Smith, STOC 2015",
        "comparisons; OLH has less variance",
    ),
    Entry(
        "olh",
        ONE_TIME,
        "optimised local hashing",
        "A random hash to g values, and randomised response on them; g has the least exact variance.",
        "p = c/(c + g - 1), q = 1/g, g near c + 1",
        "Wang et al., USENIX Security 2017",
        "many items with short reports: a seed and a small number",
    ),
    Entry(
        "ss",
        ONE_TIME,
        "subset selection",
        "The report is a set of d items that holds the own one more often than others.",
        "p = d c/(d c + k - d), q = [p (d-1) + (1-p) d]/(k-1), d near k/(c + 1)",
        "Ye and Barg, IEEE Trans. Inf. Theory 2018; Wang et al. 2016",
        "the least variance, where a set may be sent",
    ),
    Entry(
        "she",
        ONE_TIME,
        "summation with histogram encoding",
        "One number an item, the own one 1, with Laplace noise on each; the server adds them up.",
        "one-hot vector + Lap(2/eps) in each entry; variance 8/eps^2 a user",
        "Dwork et al., TCC 2006",
        "comparisons; real numbers do not suit devices",
    ),
    Entry(
        "the",
        ONE_TIME,
        "thresholding with histogram encoding",
        "As SHE, but each noisy entry is reported as above or below a threshold.",
        "p, q: chances that 1 + noise, and noise, lie above theta; theta has the least variance",
        "Wang et al., USENIX Security 2017",
        "comparisons; OUE has less variance",
    ),
    Entry(
        "hr",
        ONE_TIME,
        "Hadamard response",
        "An index at which the own row of a Hadamard matrix is more often +1; in blocks where that is better.",
        "B blocks of b columns, s = b/2: index where the row is +1 has c/(s c + B b - s), else 1/(s c + B b - s)",
        "Acharya, Sun and Zhang, AISTATS 2019",
        "many items with short reports and a fast server",
    ),
    # -- frequencies, many reports
    Entry(
        "l-grr",
        LONGITUDINAL,
        "longitudinal GRR",
        "GRR once, remembered for ever, and GRR again on the outcome in every round.",
        "p2 - q2 = gap(eps)/gap(limit), gap(e) = (e^e - 1)/(e^e + k - 1)",
        "Arcolezi et al., DCN 2022, second step solved exactly",
        "values that never change, few items",
    ),
    Entry(
        "l-sue",
        LONGITUDINAL,
        "RAPPOR: longitudinal SUE",
        "SUE once, remembered, and SUE again in every round.",
        "bits p1 = s/(s + 1), s = e^(limit/2); second step from the loss eps of the first report",
        "Erlingsson, Pihur and Korolova, CCS 2014",
        "values that never change, many items",
    ),
    Entry(
        "l-oue",
        LONGITUDINAL,
        "longitudinal OUE",
        "OUE once, remembered, and OUE again in every round.",
        "first step OUE(limit); second step from the loss eps of the first report",
        "Arcolezi et al., DCN 2022, second step solved exactly",
        "values that never change, many items",
    ),
    Entry(
        "l-soue",
        LONGITUDINAL,
        "longitudinal SUE, then OUE",
        "SUE once, remembered, and OUE in every round.",
        "first step SUE(limit); second step from the loss eps of the first report",
        "Arcolezi et al., DCN 2022, second step solved exactly",
        "values that never change, many items",
    ),
    Entry(
        "l-osue",
        LONGITUDINAL,
        "longitudinal OUE, then SUE",
        "OUE once, remembered, and SUE in every round.",
        "first step OUE(limit); second step from the loss eps of the first report",
        "Arcolezi et al., DCN 2022, second step solved exactly",
        "values that never change, many items: the least variance of the unary ones",
    ),
    Entry(
        "l-blh",
        LONGITUDINAL,
        "longitudinal BLH",
        "A hash to one bit, randomised once and remembered, and randomised again in every round.",
        "L-GRR on the hash value, g = 2",
        "Arcolezi et al., EDBT 2023, second step solved exactly",
        "comparisons; L-OLH has less variance",
    ),
    Entry(
        "l-olh",
        LONGITUDINAL,
        "longitudinal OLH (LOLOHA)",
        "A hash to g values, randomised once and remembered, and randomised again in every round.",
        "L-GRR on the hash value",
        "Arcolezi et al., EDBT 2023, second step solved exactly",
        "values that never change, many items, short reports",
    ),
    Entry(
        "bloom rappor",
        LONGITUDINAL,
        "RAPPOR with Bloom filters",
        "A string sets h bits of its cohort's Bloom filter; bits are randomised as in RAPPOR; the server decodes.",
        "loss h log[p (1-q)/(q (1-p))]",
        "Erlingsson, Pihur and Korolova, CCS 2014",
        "strings whose candidates are known to the server only (Python: collect.bloom_rappor)",
    ),
    # -- post-processing
    Entry(
        "base-pos",
        POST,
        "base-pos",
        "Negative shares become 0; the sum is left.",
        "max(f, 0)",
        "Wang et al., NDSS 2020",
        "shares of single items",
    ),
    Entry(
        "norm",
        POST,
        "norm",
        "One number is added to all shares so that they sum to 1; some may stay negative.",
        "f + delta",
        "Wang et al., NDSS 2020",
        "sums over many items: it stays unbiased",
    ),
    Entry(
        "norm-sub",
        POST,
        "norm-sub",
        "One number is added to all shares, negative ones become 0, the sum is 1: the nearest distribution.",
        "max(f + delta, 0)",
        "Wang et al., NDSS 2020",
        "the whole distribution: the usual choice",
    ),
    Entry(
        "norm-mul",
        POST,
        "norm-mul",
        "Negative shares become 0, the others are scaled to sum to 1.",
        "gamma max(f, 0)",
        "Wang et al., NDSS 2020",
        "comparisons; it shrinks large shares",
    ),
    Entry(
        "norm-cut",
        POST,
        "norm-cut",
        "The smallest shares become 0 until the others sum to at most 1.",
        "f where f >= theta, else 0",
        "Wang et al., NDSS 2020",
        "the largest items, unchanged",
    ),
    Entry(
        "power",
        POST,
        "power",
        "The expected share given the estimate, where counts follow a power law.",
        "E[c/n | f], Pr[c] ~ c^-alpha",
        "Wang et al., NDSS 2020",
        "items whose counts fall like a power law",
    ),
    Entry(
        "power-ns",
        POST,
        "power, then norm-sub",
        "Power, then norm-sub.",
        "norm-sub(power(f))",
        "Wang et al., NDSS 2020",
        "distributions that fall like a power law",
    ),
    # -- estimators
    Entry(
        "raw",
        ESTIMATOR,
        "the unbiased estimate",
        "Support counts, freed of what noise adds on average; shares may be negative.",
        "(support/n - q)/(p - q)",
        "Wang et al., USENIX Security 2017",
        "averages of many estimates, and intervals",
    ),
    Entry(
        "ibu",
        ESTIMATOR,
        "iterative Bayesian update",
        "EM on normalised support counts: maximum likelihood for GRR, a surrogate of it for other protocols.",
        "f <- f * A (counts / (f A))",
        "Arcolezi, Cerna and Palamidessi, DBSec 2023",
        "few users, many rare items",
    ),
    Entry(
        "ibu-10000",
        ESTIMATOR,
        "IBU as published",
        "10,000 plain steps of IBU from the uniform distribution, at the limit or not.",
        "as ibu, 10,000 steps",
        "Arcolezi, Cerna and Palamidessi, DBSec 2023",
        "comparing with published numbers",
    ),
    Entry(
        "ml",
        ESTIMATOR,
        "maximum likelihood",
        "The distribution under which the reports themselves are most likely, with a proven gap.",
        "argmax sum log sum_x f(x) P(y|x)",
        "Fisher, 1922",
        "few users; any protocol of up to 256 items",
    ),
    # -- means
    Entry(
        "aaa",
        MEAN,
        "advanced adaptive additive noise",
        "Some users give a histogram; unbiased noise is designed for it, with a law for each input; the others use it.",
        "min E[Var] over noise laws of each input, subject to privacy and E[Y|x] = x",
        "Wei et al., PVLDB 2024, its program (15) corrected: ERRATA.md, item 5",
        "means of data that are concentrated",
    ),
    Entry(
        "aaa-paper",
        MEAN,
        "AAA, second group only",
        "As aaa, but the mean is estimated from the second group alone.",
        "as aaa",
        "Wei et al., PVLDB 2024",
        "comparing with the paper",
    ),
    Entry(
        "sw-em",
        MEAN,
        "square wave with EM",
        "SW reports; the server finds the most likely histogram and takes its mean.",
        "EM on the channel of SW",
        "Li et al., SIGMOD 2020",
        "the distribution of a number; its mean has no interval",
    ),
    Entry(
        "sw-ems",
        MEAN,
        "square wave with smoothed EM",
        "As sw-em, with the histogram smoothed in every step.",
        "EM, then weights (1, 2, 1)/4",
        "Li et al., SIGMOD 2020",
        "the distribution of a number where it is smooth",
    ),
    # -- designs
    Entry(
        "this design",
        DESIGN,
        "what the command has just designed",
        "The answer of the command itself, among its rivals.",
        "-",
        "this package",
        "reading the table of rivals",
    ),
    Entry(
        "optimal piecewise",
        DESIGN,
        "the optimal piecewise mechanism",
        "The best piecewise mechanism with these outputs, computed and proven; OGPM or its corrected form.",
        "high on a sublevel set of the loss, low elsewhere",
        f"{_CHAPTER_5}; proof in this package",
        "single reports drawn from a density in two heights; angles",
    ),
    Entry(
        "certified",
        DESIGN,
        "the certified optimum",
        "A mechanism and a proof that no epsilon-LDP mechanism has less worst-case error by more than the gap printed.",
        "min over base measures m of max over x of the least error with m <= law <= c m",
        "this package; CERTIFIED.md",
        "single reports; the line that rivals are measured against",
        ("certified optimum", "minimax"),
    ),
    Entry(
        "finite optimum",
        DESIGN,
        "the certified optimum over finite values",
        "The least worst (or average) loss over all mechanisms from given inputs to given outputs.",
        "linear program over the matrix of chances",
        "this package",
        "whole numbers, categories with losses, own loss matrices",
    ),
    Entry(
        "randomised response on bins",
        DESIGN,
        "the least average error under a prior",
        "The line is cut into the best bins under the prior; a report stands for a bin, the own one more often.",
        "own bin c/(c + k - 1), any other 1/(c + k - 1); bins and k have the least average error",
        "this package; a case of the staircase mechanisms of Kairouz, Oh and Viswanath, NeurIPS 2014",
        "single reports about people of whom a distribution is known",
    ),
    Entry(
        "capped average",
        DESIGN,
        "the least average error with the worst case capped",
        "Between the certified optimum and randomised response on bins: the worst case may not be above a cap.",
        "min average over base measures m, subject to worst case <= cap and m <= law <= c m",
        "this package",
        "single reports where both a prior and the worst input count",
    ),
    Entry(
        "unbiased optimum",
        DESIGN,
        "the least variance under a prior, unbiased",
        "The least average variance over all unbiased mechanisms on an interval, under a prior on points.",
        "min E[(Y - x)^2], subject to E[Y|x] = x and m <= law <= c m for a base measure m",
        "this package",
        "means of data whose distribution is roughly known",
    ),
    Entry(
        "workload optimum",
        DESIGN,
        "the least noise over many linear queries",
        "The least noise in the answers of a workload, over all mechanisms with unbiased linear estimators.",
        "min tr(G M^-1), G = W'W and M the information of the reports, over mixtures of rows with entries 1 and e^eps",
        "this package; the problem: McKenna et al., VLDB 2020",
        "distribution functions, ranges, marginals",
    ),
    Entry(
        "additive optimum",
        DESIGN,
        "unbiased noise with a law for each input",
        "The least average variance under a prior over unbiased mechanisms on a grid: the noise inside AAA.",
        "as aaa, the noise alone",
        "Wei et al., PVLDB 2024, its program (15) corrected: ERRATA.md, item 5",
        "means of data that are concentrated",
    ),
    Entry(
        "ogpm (unbiased)",
        DESIGN,
        "the optimal unbiased piecewise mechanism",
        "The least worst-case variance among piecewise mechanisms without bias, with any outputs.",
        "high on a window around a multiple of x, low elsewhere, outputs stretched so that E[Y|x] = x",
        "this package",
        "means with one piecewise law; compare PM and HM",
    ),
    Entry(
        "ogpm (polar)",
        DESIGN,
        "the optimal piecewise mechanisms of distance and angle",
        "An OGPM for a distance and one for an angle, with epsilon split so that the sum of errors is least.",
        "OGPM at eps_1 for the distance, at eps - eps_1 on the circle",
        f"{_CHAPTER_5}; the split is computed here",
        "a point given by distance and direction",
    ),
    Entry(
        "custom optimum",
        DESIGN,
        "the optimum of your own objective",
        "The best table of chances for an objective and constraints in CVXPY; proven where all is linear.",
        "convex program over the matrix of chances",
        "this package",
        "questions that no other design answers",
    ),
    Entry(
        "joint randomised response",
        DESIGN,
        "joint randomised response",
        "Users in random groups answer so that their errors cancel.",
        "pairs: each truthful with p, correlation rho of the two truths",
        "Refined mechanism design, chapter on JRR",
        "a yes/no count in a survey whose groups no adversary knows: read what partners learn first",
        ("jrr",),
    ),
    # -- paths
    Entry(
        "tracs-d",
        PATH,
        "TraCS-D",
        "Each location by direction and distance from the report before (the first from the centre).",
        "OGPM on the circle for the direction, OGPM for the share of the way to the boundary",
        f"{_CHAPTER_6}",
        "paths whose steps are short",
    ),
    Entry(
        "tracs-d-corner",
        PATH,
        "TraCS-D from a corner",
        "TraCS-D that starts from the south west corner, as in the chapter's experiments.",
        "as tracs-d",
        f"{_CHAPTER_6}",
        "comparing with the chapter",
    ),
    Entry(
        "tracs-d-r-sw",
        PATH,
        "TraCS-D with r-sw",
        "TraCS-D with the redesigned square wave inside.",
        "as tracs-d",
        "Refined mechanism design, D.2.6",
        "comparing with the chapter",
    ),
    Entry(
        "tracs-d-certified",
        PATH,
        "TraCS-D with the certified optimum",
        "TraCS-D with the certified average optimum for distances.",
        "as tracs-d",
        "this package",
        "paths whose steps are short",
    ),
    Entry(
        "tracs-c",
        PATH,
        "TraCS-C",
        "Each location coordinate by coordinate.",
        "OGPM at eps/2 for x and for y",
        f"{_CHAPTER_6}",
        "comparisons; the certified forms have less error",
    ),
    Entry(
        "tracs-c-minimax",
        PATH,
        "TraCS-C with the worst-case optimum",
        "TraCS-C with the certified worst-case optimum in each coordinate.",
        "as tracs-c",
        "this package",
        "paths that may be anywhere",
    ),
    Entry(
        "tracs-c-certified",
        PATH,
        "TraCS-C with the average optimum",
        "TraCS-C with the certified average optimum in each coordinate, for uniform places.",
        "as tracs-c",
        "this package",
        "paths, location by location, with tables that can be shipped",
        ("certified-uniform",),
    ),
    Entry(
        "plane",
        PATH,
        "the certified optimum in the plane",
        "The certified average optimum of both coordinates at once, on a grid of cells.",
        "linear program over cells",
        "this package",
        "the least error of a location, and a floor for every mechanism",
    ),
    Entry(
        "planar laplace",
        PATH,
        "planar Laplace noise",
        "Noise that falls with the distance in the plane, moved back inside; `laplace` in trajectory compare.",
        "f(r) ~ e^(-eps r / diameter)",
        "Andres et al., CCS 2013 (with the rate of pure LDP on the region)",
        "comparisons",
    ),
    Entry(
        "strawman",
        PATH,
        "sectors and k-RR",
        "The direction by randomised response over six sectors, spending its epsilon.",
        "6-RR, then a place in the sector",
        f"{_CHAPTER_6}",
        "comparisons",
    ),
    Entry(
        "strawman-published",
        PATH,
        "sectors and k-RR as published",
        "As the published code samples it.",
        "at eps = 2 it spends 4.22",
        f"{_CHAPTER_6}; ERRATA.md, item 13",
        _PRINTED_MORE,
    ),
    Entry(
        "exponential",
        PATH,
        "exponential mechanism over points",
        "A public point of interest, nearer ones more often. In classifier: over 101 points of [0, 1].",
        "Pr[y] ~ e^(-scale d(x, y))",
        "McSherry and Talwar, FOCS 2007",
        "reports that must be public points",
    ),
    Entry(
        "exponential-published",
        PATH,
        "exponential mechanism as published",
        "As the published code samples it: it spends about half its epsilon.",
        "as exponential",
        "ERRATA.md, item 13",
        _PRINTED_MORE,
    ),
    Entry(
        "l-srr",
        PATH,
        "location staircase randomised response",
        "A public point of interest, its chance in steps of the distance.",
        "chances fall in groups of points",
        "Wang et al., CCS 2022",
        "reports that must be public points",
    ),
    Entry(
        "l-srr-published",
        PATH,
        "L-SRR as published",
        "As the published code samples it: it spends about log eps.",
        "as l-srr",
        "ERRATA.md, item 13",
        _PRINTED_MORE,
    ),
    Entry(
        "ngram",
        PATH,
        "NGram",
        "The exponential mechanism over points that can be reached from the report before.",
        "Pr[y] ~ e^(-scale d(x, y)) over reachable y",
        "Cunningham et al., VLDB 2021",
        "paths over public points",
    ),
    Entry(
        "ngram-published",
        PATH,
        "NGram as published",
        "As the published code samples it: some outputs are impossible from some inputs, so its loss is infinite.",
        "as ngram",
        "ERRATA.md, item 13",
        _PRINTED_MORE,
    ),
    Entry(
        "atp",
        PATH,
        "directions from both neighbours",
        "Directions from the neighbours' reports over points of interest.",
        "k-RR over sectors from both neighbours, then points",
        "Zhang et al., VLDB 2023",
        "paths over public points",
    ),
    Entry(
        "centre",
        PATH,
        "the constant answer",
        "Always the centre of the region: it spends nothing, and mechanisms that do worse are worth nothing.",
        "y = centre",
        "this package",
        "seeing whether an epsilon buys anything",
    ),
    # -- searches
    Entry(
        "bs",
        SEARCH,
        "binary search",
        "Halves the range of eps; each half is decided by collections.",
        "Algorithm 1",
        "the Optimus paper",
        "comparisons with the paper; it has no error rate",
    ),
    Entry(
        "rbs",
        SEARCH,
        "relaxed binary search",
        "As bs, the half that is kept is a little longer.",
        "Algorithm 2",
        "the Optimus paper",
        "comparisons with the paper; it has no error rate",
    ),
    Entry(
        "dbs",
        SEARCH,
        "dynamic binary search",
        "As bs, with more collections near the threshold.",
        "Algorithm 3",
        "the Optimus paper",
        "comparisons with the paper; it has no error rate",
    ),
    Entry(
        "mpass",
        SEARCH,
        "multi-pass",
        "The whole range in steps of 1, then finer around the least that satisfied.",
        "Algorithm 4",
        "the Optimus paper",
        "comparisons with the paper; it has no error rate",
    ),
    Entry(
        "bayes",
        SEARCH,
        "Bayesian optimisation",
        "The eps whose average metric is nearest to the threshold, by a Gaussian process.",
        "Algorithms 5 and 6",
        "the Optimus paper",
        "comparisons with the paper; it has no error rate",
    ),
    # -- the classifier's names
    Entry(
        "laplace-raw",
        CLASSIFIER,
        "Laplace noise, left where it falls",
        "Laplace noise whose reports are not moved into [0, 1]; `laplace` in classifier moves them.",
        "y = x + Lap(1/eps)",
        f"{_CHAPTER_7}",
        "comparing with the chapter",
    ),
    Entry(
        "gaussian-raw",
        CLASSIFIER,
        "Gaussian noise, left where it falls",
        "Gaussian noise whose reports are not moved into [0, 1].",
        "y = x + N(0, sigma^2)",
        f"{_CHAPTER_7}",
        "comparing with the chapter",
    ),
    Entry(
        "exponential-printed",
        CLASSIFIER,
        "the exponential mechanism as printed",
        "The chapter's form, which spends half its epsilon.",
        "Pr[y] ~ e^(-eps |x-y| / 2) over 101 points",
        f"{_CHAPTER_7}; ERRATA.md, item 14",
        "comparing with the chapter",
    ),
    Entry(
        "k-rr",
        CLASSIFIER,
        "k-ary randomised response on points",
        "Randomised response over 100 points of [0, 1].",
        "own point c/(c + 99), any other 1/(c + 99)",
        f"{_CHAPTER_7}",
        "comparing with the chapter",
    ),
)
"""Every name, once."""


def entry(name: str) -> Entry:
    """The entry of that name or other spelling, in either case; a name that is unknown is told the nearest ones.

    >>> entry("optimised-unary")
    Traceback (most recent call last):
    ...
    mechdesign.errors.InvalidInput: name must be a name of the glossary (got 'optimised-unary'); ...
    """
    if not isinstance(name, str):
        raise InvalidInput("name", name, "be a name of the glossary")
    key = name.strip().lower()
    for found in ENTRIES:
        if key in (found.name, *found.also):
            return found
    near = _nearest(key)
    step = f"did you mean {', '.join(near)}?" if near else "`mechdesign glossary` lists them all"
    raise InvalidInput("name", name, "be a name of the glossary", step)


def _nearest(key: str) -> list[str]:
    """Names whose spelling, or whose title, is near."""
    called = {spelling: found.name for found in ENTRIES for spelling in (found.title.lower(), *found.also, found.name)}
    near = get_close_matches(key, called, n=_MOST_NEAR, cutoff=0.6)
    within = [spelling for spelling in called if len(key) >= _LEAST_WITHIN and key in spelling]
    return list(dict.fromkeys(called[spelling] for spelling in (*near, *within)))[:_MOST_NEAR]


_MOST_NEAR, _LEAST_WITHIN = 5, 3


def of_kind(kind: str) -> tuple[Entry, ...]:
    """The entries of a kind, in their order.

    >>> [found.name for found in of_kind("angles on a circle")]
    ['purkayastha']
    """
    return tuple(found for found in ENTRIES if found.kind == kind)
